// The dialogs of the page: keys, guideline, flag. While one is open nothing is judged.

import { examplesOf, goneOf, proseOf } from "./dock.js";
import { make } from "./dom.js";
import { rebound, signOf } from "./keys.js";
import { fill } from "./words.js";

export const HELD = ["loupe", "flicker"]; // keys that work while they are held

export class Dialogs {
  constructor(parent, texts) {
    this.parent = parent;
    this.texts = texts;
    this.current = null;
  }

  get open() {
    return this.current?.open ?? false;
  }

  show(title, ...content) {
    this.close();
    const close = make("button", { type: "button", class: "plain", text: this.texts.page.close, onclick: () => this.close() });
    const dialog = make("dialog", { class: "sheet", "aria-label": title }, make("header", {}, make("h2", { text: title }), close), ...content);
    dialog.addEventListener("close", () => this.#gone(dialog));
    dialog.addEventListener("click", (event) => event.target === dialog && this.close()); // beside the sheet
    this.parent.append(dialog);
    this.current = dialog;
    dialog.showModal();
    return dialog;
  }

  close() {
    this.current?.close();
  }

  #gone(dialog) {
    dialog.remove();
    if (this.current === dialog) this.current = null;
    this.onClosed?.();
  }

  // Every action with its keys; a line that is pressed takes the next key for its own.
  help({ bindings, defaults, grid, onBindings }) {
    const { dialogs, actions, page } = this.texts;
    let current = bindings;
    const told = make("p", { class: "told", role: "status" });
    const list = make("div", { class: "keys" });
    const draw = () => {
      list.replaceChildren(...Object.entries(current).map(([action, keys]) =>
        make("button", { type: "button", "data-action": action, onclick: (event) => listen(action, event.currentTarget) },
          make("span", { text: HELD.includes(action) ? fill(dialogs.helpHold, { action: actions[action] }) : actions[action] }), make("span", {}, ...keys.map((key) => make("kbd", { text: signOf(key) }))))));
    };
    const listen = (action, line) => {
      told.textContent = dialogs.helpPress;
      line.classList.add("listening");
      line.addEventListener("keydown", (event) => {
        if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
        if (event.key === "Tab") return;
        event.preventDefault();
        event.stopPropagation();
        const changed = event.key === "Escape" ? current : rebound(current, action, event.key);
        told.textContent = changed ? "" : dialogs.helpTaken;
        if (changed) onBindings((current = changed));
        draw();
        list.querySelector(`[data-action=${action}]`).focus();
      }, { once: true });
    };
    draw();
    const reset = make("button", { type: "button", class: "plain", text: dialogs.helpReset, onclick: () => {
      onBindings((current = defaults));
      draw();
    } });
    this.show(dialogs.helpTitle, make("p", { text: grid ? dialogs.helpGrid : dialogs.helpTouch }), make("p", { text: dialogs.helpBody }), list, told, make("div", { class: "buttons" }, reset));
    return page;
  }

  // The guideline with its examples, where there is no room beside the pair.
  guide(guideline, parts) {
    const { dialogs } = this.texts;
    const version = guideline.version ? make("p", { class: "quiet", text: fill(dialogs.guideVersion, { version: guideline.version }) }) : null;
    this.show(dialogs.guideTitle, ...[proseOf(guideline, dialogs), ...examplesOf(guideline, parts), goneOf(guideline, dialogs), version].filter(Boolean)).classList.add("wide");
  }

  // A reason for setting something aside.
  flag(title, onReason) {
    const { dialogs } = this.texts;
    const field = make("textarea", { id: "reason", rows: 2, maxlength: 1000, required: true });
    const chips = make("div", { class: "chips" }, ...dialogs.flagReasons.map((reason) =>
      make("button", { type: "button", text: reason, onclick: () => {
        field.value = reason;
        field.focus();
      } })));
    const send = () => {
      const reason = field.value.trim();
      if (reason === "") {
        field.focus();
        return;
      }
      this.close();
      onReason(reason);
    };
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      send();
    });
    this.show(title, make("p", { text: dialogs.flagBody }), chips, make("label", { for: "reason", text: dialogs.flagReason }), field,
      make("div", { class: "buttons" }, make("button", { type: "button", class: "plain strong", text: dialogs.flagSend, onclick: send })));
    field.focus();
  }

  tell(title, ...lines) {
    this.show(title, ...lines.map((text) => make("p", { text })));
  }
}
