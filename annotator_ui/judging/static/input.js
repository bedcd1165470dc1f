// Keys and fingers, turned into actions. The page listens before Streamlit does, whose own keys would rerun the script.

import { actionOf, nameOf } from "./keys.js";
import { strokeOf } from "./swipe.js";

const ARROWS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
const HELD = ["loupe", "flicker", "toggle"];

export class Input {
  // active(): "pair", "grid" or null while nothing is shown; bindings(kind);
  // on: {action, arrow, pan, digit, escape, release, pointer, zoomed, grades, other: a view's further keys}.
  constructor({ active, bindings, on, stage }) {
    Object.assign(this, { active, bindings, on, stage, down: new Set() });
    this.off = new AbortController();
    const listen = (target, name, action, options = {}) => target.addEventListener(name, action, { signal: this.off.signal, ...options });
    listen(window, "keydown", (event) => this.#down(event), { capture: true });
    listen(window, "keyup", (event) => this.#up(event), { capture: true });
    listen(window, "blur", () => this.#letGo());
    listen(window, "pointermove", (event) => this.on.pointer(event), { passive: true });
    listen(stage, "touchstart", (event) => this.#touch(event), { passive: true });
    listen(stage, "touchend", (event) => this.#lift(event), { passive: true });
    listen(stage, "touchcancel", () => (this.finger = null), { passive: true });
  }

  stop() {
    this.#letGo();
    this.off.abort();
  }

  #down(event) {
    const target = event.composedPath()[0];
    if (isEditable(target) || isInDialog(event)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const kind = this.active();
    const pushes = target instanceof Element && target.closest("button, a");
    const tile = target instanceof Element && target.closest(".tile");
    if (pushes && !tile && (event.key === "Enter" || event.key === " ")) {
      if (event.repeat) event.preventDefault(); // a held key must not push the button again and again
      event.stopPropagation();
      return;
    }
    if (kind === null) {
      if (event.key.length === 1) event.stopPropagation();
      return;
    }
    const handled = this.#asked(kind, event);
    if (handled) event.preventDefault();
    if (handled || event.key.length === 1) event.stopImmediatePropagation();
  }

  #asked(kind, event) {
    if (this.on.other?.(event)) return true;
    if (event.key === "Escape") return this.on.escape();
    if (event.shiftKey && ARROWS.includes(event.key)) {
      this.on.pan(event.key);
      return true;
    }
    if (kind === "grid" && ARROWS.includes(event.key)) {
      this.on.arrow(event.key);
      return true;
    }
    if (kind === "grid" && /^[0-9]$/.test(event.key)) {
      if (!event.repeat) this.on.digit(event.key);
      return true;
    }
    const action = actionOf(event, this.bindings(kind));
    if ((action === null || this.on.grades?.()) && kind !== "grid" && /^[0-9]$/.test(event.key)) {
      if (!event.repeat) this.on.digit(event.key);
      return true;
    }
    if (action === null) return false;
    this.down.add(nameOf(event.key));
    this.on.action(action, event);
    return true;
  }

  #up(event) {
    const tile = event.composedPath()[0] instanceof Element && event.composedPath()[0].closest(".tile");
    if (tile && (event.key === " " || event.key === "Enter")) event.preventDefault(); // else it would be clicked, too
    if (!this.down.delete(nameOf(event.key))) return;
    const kind = this.active();
    const action = kind && actionOf({ key: event.key }, this.bindings(kind));
    if (HELD.includes(action)) this.on.release(action);
  }

  #letGo() {
    this.down.clear();
    this.on.release(null);
  }

  #touch(event) {
    const [touch] = event.touches;
    this.finger = event.touches.length === 1 ? { x: touch.clientX, y: touch.clientY, at: event.timeStamp } : null;
  }

  #lift(event) {
    const start = this.finger;
    this.finger = null;
    if (!start || this.active() !== "pair" || this.on.zoomed()) return;
    const [touch] = event.changedTouches;
    const stroke = strokeOf({ dx: touch.clientX - start.x, dy: touch.clientY - start.y, ms: event.timeStamp - start.at });
    if (stroke) this.on.action(stroke === "right" ? "similar" : "different", event);
  }
}

function isEditable(target) {
  return target instanceof Element && (target.matches("input, textarea, select") || target.isContentEditable);
}

function isInDialog(event) {
  return event.composedPath().some((node) => node instanceof Element && node.matches("dialog, [role=dialog], [role=alertdialog]"));
}
