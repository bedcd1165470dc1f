// What Streamlit starts. It fetches our modules from our own address (all at once, not one after another)
// and mounts the page once; a rerun of the script only brings new data.
const mounted = new WeakMap();

export default async function (component) {
  const { data, parentElement } = component;
  const known = mounted.get(parentElement);
  if (known) {
    (await known).update(data);
    return undefined;
  }
  const home = new URL(`${data.base}/judging/${data.version}/`, window.location.origin).href;
  for (const name of data.modules) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = home + name;
    document.head.append(link);
  }
  const page = import(`${home}main.js`).then((module) => module.mount(parentElement, data));
  mounted.set(parentElement, page);
  page.catch(() => mounted.delete(parentElement));
  await page;
  return async () => {
    mounted.delete(parentElement);
    (await page).unmount();
  };
}
