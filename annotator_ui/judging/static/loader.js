// What Streamlit starts. It fetches our modules from our own address (all at once, not one after another)
// and mounts the page once; a rerun of the script only brings new data.
const mounted = new WeakMap();

export default async function (component) {
  const { data, parentElement, setTriggerValue } = component;
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
  const outlets = { onStored: () => setTriggerValue("stored", Date.now()) };
  const words = import(`${home}words.js`).then(({ speak }) => speak(data.language));
  const page = Promise.all([import(home + data.start), words]).then(([module]) => module.mount(parentElement, data, outlets)).catch((error) => failed(parentElement, data, error));
  mounted.set(parentElement, page);
  await page;
  return async () => {
    mounted.delete(parentElement);
    (await page).unmount();
  };
}

// A script did not come, or broke at once: said in our words instead of Streamlit's. Only a reload asks for it again.
function failed(parent, { texts, judging }, error) {
  console.error(error);
  // Built by hand: our own modules may be what is missing.
  const make = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const root = make("section", judging ? "judging" : "saving");
  const stage = make("div", "stage");
  const card = make("div", "state");
  card.setAttribute("role", "alert");
  const reload = Object.assign(make("button", "plain strong", texts.states.reload), { type: "button" });
  reload.addEventListener("click", () => window.location.reload());
  card.append(...(judging ? [make("h2", "", texts.states.errorTitle)] : []), make("p", "", texts.states.errorBody), reload);
  root.append(stage);
  stage.append(card);
  parent.append(root);
  return { update() {}, unmount: () => root.remove() };
}
