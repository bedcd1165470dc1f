// A picture from this device: sent to our own route, which decodes it apart and keeps it for this person only.
const mounted = new WeakMap();

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
    known.root.remove();
  };
}

function build(parent, send) {
  const make = (tag, name, more = {}) => Object.assign(document.createElement(tag), { className: name }, more);
  const root = make("section", "upload");
  const label = make("label", "choose");
  const input = make("input", "file", { type: "file", accept: "image/*" });
  const about = make("p", "about");
  const status = make("p", "status");
  status.setAttribute("role", "status");
  label.append(document.createTextNode(""), input);
  root.append(label, about, status);
  parent.append(root);
  const known = { root, label, about, data: null };
  const take = async (file) => {
    if (!file) return;
    const { texts, address, most } = known.data;
    if (file.size > most) {
      status.textContent = texts.large;
      return;
    }
    status.textContent = texts.sending;
    try {
      const name = encodeURIComponent(file.name).slice(0, 300);
      const headers = { "x-eds": "1", "x-eds-name": name, "content-type": "application/octet-stream" };
      const answer = await fetch(address, { method: "POST", headers, body: file, credentials: "same-origin" });
      const body = await answer.json().catch(() => ({}));
      if (!answer.ok) {
        status.textContent = texts[body.reason] ?? texts.failed;
        return;
      }
      status.textContent = "";
      send("uploaded", body.token);
    } catch {
      status.textContent = texts.failed;
    }
  };
  input.addEventListener("change", () => take(input.files[0]).finally(() => (input.value = "")));
  root.addEventListener("dragover", (event) => event.preventDefault());
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  return known;
}
