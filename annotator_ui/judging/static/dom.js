// Making elements without markup in strings, so that no text can ever become markup.

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A button with its key on it. It must not keep the focus from the page's keys after a click.
export function keyButton({ action, text, key, onPress, tone = "" }) {
  return make(
    "button",
    { type: "button", class: `key-button ${tone}`, "data-action": action, "aria-keyshortcuts": key?.name, onclick: onPress },
    make("span", { class: "text", text }),
    ...(key?.signs ?? []).slice(0, tone.includes("answer") ? 2 : 1).map((sign) => make("kbd", { text: sign, "aria-hidden": "true" })),
  );
}

// Write only what has changed: the page is quiet while nothing does.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Calls back when what stands in the document now has been painted: at the beginning of the frame after its own.
export function afterPaint(action) {
  requestAnimationFrame(() => requestAnimationFrame(() => action()));
}
