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

// A button with its key on it.
export function keyButton({ action, text, key, onPress, tone = "" }) {
  return make(
    "button",
    { type: "button", class: `key-button ${tone}`, "data-action": action, "aria-keyshortcuts": key?.name, onclick: onPress },
    make("span", { class: "text", text }),
    ...(key?.signs ?? []).slice(0, tone.includes("answer") ? 2 : 1).map((sign) => make("kbd", { text: sign, "aria-hidden": "true" })),
  );
}

// A button that works while it is held, by finger or mouse.
export function heldButton({ action, text, key, onAction }) {
  const button = keyButton({ action, text, key, tone: "small held" });
  button.addEventListener("pointerdown", () => onAction(action));
  for (const end of ["pointerup", "pointercancel", "pointerleave"]) button.addEventListener(end, () => onAction(`${action}-end`));
  return button;
}

// A button that is clicked must not have the focus: Enter and Space, meant for the page, would press it again.
// Whoever comes to it with Tab keeps it there; a tile is where the keys go on, and a dialog has keys of its own.
export function keepFocus(root) {
  root.addEventListener("mousedown", (event) => {
    if (!event.target.closest("button") || event.target.closest(".tile, dialog")) return;
    event.preventDefault();
    root.focus({ preventScroll: true });
  });
}

// Write only what has changed: the page is quiet while nothing does.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Calls back when what stands in the document now has been painted: at the beginning of the frame after its own.
export function afterPaint(action) {
  requestAnimationFrame(() => requestAnimationFrame(() => action()));
}
