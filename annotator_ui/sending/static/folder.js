// A folder of pictures from this device, sent to our own route one by one. What is there already is not sent again, so a
// broken upload goes on where it stopped when the same folder is chosen.
const mounted = new WeakMap();
const AT_ONCE = 3; // requests
const TRIES = 5; // of one picture; a server that is away for a moment costs none
const SHOWN = 5; // faults

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  let known = mounted.get(parentElement);
  if (!known) {
    known = build(parentElement, setTriggerValue);
    mounted.set(parentElement, known);
  }
  known.data = data;
  known.label.firstChild.textContent = data.texts.choose;
  known.about.textContent = data.texts.about;
  return () => {
    mounted.delete(parentElement);
    known.ended = true;
    known.root.remove();
  };
}

function build(parent, send) {
  const make = (tag, name, more = {}) => Object.assign(document.createElement(tag), { className: name, ...more });
  const input = make("input", "file", { type: "file", multiple: true, webkitdirectory: true });
  const label = make("label", "choose");
  label.append(document.createTextNode(""), input);
  const known = { root: make("section", "folder"), label, about: make("p", "about"), data: null, ended: false };
  const status = make("p", "status");
  status.setAttribute("role", "status");
  const bar = make("progress", "bar", { hidden: true, max: 1, value: 0 });
  const faults = make("ul", "faults");
  known.root.append(label, known.about, bar, status, faults);
  parent.append(known.root);
  input.addEventListener("change", async () => {
    const files = [...input.files];
    input.disabled = true;
    faults.replaceChildren();
    try {
      const result = await sendAll(files, known, (text, part) => {
        status.textContent = text;
        bar.hidden = part === null;
        bar.value = part ?? 0;
      });
      for (const fault of result.faults.slice(0, SHOWN)) faults.append(Object.assign(document.createElement("li"), { textContent: fault }));
      if (result.there > 0 && !known.ended) send("sent", result.there);
    } catch {
      status.textContent = known.data.texts.failed;
      bar.hidden = true;
    } finally {
      input.disabled = false;
      input.value = ""; // the same folder may be chosen again
    }
  });
  return known;
}

// The path below the folder that was chosen.
const pathOf = (file) => (file.webkitRelativePath || file.name).split("/").slice(file.webkitRelativePath ? 1 : 0).join("/");

const isPicture = (file, suffixes) => suffixes.some((suffix) => file.name.toLowerCase().endsWith(suffix));
const isHidden = (file) => pathOf(file).split("/").some((part) => part.startsWith("."));

async function sendAll(files, known, show) {
  const { texts, address, most, suffixes } = known.data;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const pictures = files.filter((file) => isPicture(file, suffixes) && !isHidden(file));
  if (pictures.length === 0) {
    show(texts.nothing, null);
    return { there: 0, faults: [] };
  }
  show(texts.looking, 0);
  const answer = await fetch(address, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.status);
  const arrived = (await answer.json()).files;
  const waiting = pictures.filter((file) => arrived[pathOf(file)] !== file.size);
  const faults = [];
  let done = pictures.length - waiting.length;
  let there = done;
  const step = () => show(fill(texts.sending, { done, count: pictures.length }), done / pictures.length);
  step();
  const work = async () => {
    for (let file = waiting.shift(); file && !known.ended; file = waiting.shift()) {
      const fault = file.size > most ? texts.large : await sendOne(address, file, known);
      if (fault === null) there += 1;
      else faults.push(`${pathOf(file)}: ${fault}`);
      done += 1;
      step();
    }
  };
  const leaving = (event) => event.preventDefault(); // the browser asks before the page is closed
  window.addEventListener("beforeunload", leaving);
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    window.removeEventListener("beforeunload", leaving);
  }
  show(fill(faults.length > 0 ? texts.refused : texts.arrived, { count: there, faults: faults.length }), null);
  return { there, faults };
}

// Nothing once the picture is stored, or else why it is not.
async function sendOne(address, file, known) {
  const headers = { "x-eds": "1", "x-eds-path": encodeURIComponent(pathOf(file)), "content-type": "application/octet-stream" };
  for (let turn = 0; turn < TRIES && !known.ended; turn += 1) {
    try {
      const answer = await fetch(address, { method: "POST", headers, body: file, credentials: "same-origin" });
      if (answer.ok) return null;
      if (answer.status < 500) return (await answer.json().catch(() => ({}))).error ?? `status ${answer.status}`;
    } catch {
      // the network is away, or the file was changed meanwhile
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(4000, 250 * 2 ** turn)));
  }
  return known.data.texts.failed;
}
