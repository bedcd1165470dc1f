// Looking closely: every picture of a pair zoomed and moved together, by wheel, pinch, drag or keys; Alt takes one alone.
// A view says which boxes belong together. Places are shares of the picture, so they mean the same in both.

import { contained, sharpen } from "./loupe.js";

const MOST = 8;
const STEP = 1.25; // of one key or notch
const DOUBLE = 2.5;
const MOVE = 0.12; // of the box, by a key
const WHOLE = { scale: 1, u: 0.5, v: 0.5, x: 0.5, y: 0.5 };

// The state after zooming to `scale` with the place below (px, py), shares of the box, kept where it is.
export function zoomedAt(state, scale, px, py, box, natural) {
  const wanted = Math.min(MOST, Math.max(1, scale));
  if (wanted === 1) return { ...WHOLE };
  const { left, top } = laid(state, box, natural);
  const inner = contained(box, natural);
  const share = (value) => Math.min(1, Math.max(0, value));
  const u = share(((px * box.width - left) / state.scale - inner.left) / inner.width);
  const v = share(((py * box.height - top) / state.scale - inner.top) / inner.height);
  return { scale: wanted, u, v, x: px, y: py };
}

// Where the picture's box comes to lie: the translation of the transform, never with an empty border that need not be.
export function laid({ scale, u, v, x, y }, box, natural) {
  const inner = contained(box, natural);
  const along = (share, at, side, from, length) => {
    const wanted = at * side - (from + share * length) * scale;
    const least = side - (from + length) * scale;
    const most = -from * scale;
    return (least > most ? (least + most) / 2 : Math.min(most, Math.max(least, wanted))) + 0; // no -0
  };
  return { left: along(u, x, box.width, inner.left, inner.width), top: along(v, y, box.height, inner.top, inner.height) };
}

// The state after moving by shares of the box.
export function moved(state, dx, dy, box, natural) {
  if (state.scale === 1) return state;
  const { left, top } = laid({ ...state, x: state.x + dx, y: state.y + dy }, box, natural);
  const inner = contained(box, natural);
  return { ...state, x: (left + (inner.left + state.u * inner.width) * state.scale) / box.width, y: (top + (inner.top + state.v * inner.height) * state.scale) / box.height };
}

export class Zoom {
  // boxes() -> elements that each hold pictures; fullOf(image) -> the address of its finest picture, or null.
  constructor(stage, boxes, { fullOf = () => null } = {}) {
    Object.assign(this, { boxes, fullOf, states: new WeakMap(), fingers: new Map() });
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    stage.addEventListener("dblclick", (event) => this.#double(event));
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    for (const name of ["pointerup", "pointercancel"]) stage.addEventListener(name, (event) => this.#up(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
  }

  get active() {
    return this.boxes().some((box) => this.#of(box).scale > 1);
  }

  // A key: in, out, or back to the whole.
  key(action) {
    const factor = { zoomIn: STEP * STEP, zoomOut: 1 / (STEP * STEP) }[action];
    if (factor === undefined) return this.reset();
    return this.#change(null, (state, box, natural) => zoomedAt(state, state.scale * factor, 0.5, 0.5, box, natural));
  }

  // A key with an arrow on it moves what is zoomed.
  arrow(key) {
    const [dx, dy] = { ArrowLeft: [MOVE, 0], ArrowRight: [-MOVE, 0], ArrowUp: [0, MOVE], ArrowDown: [0, -MOVE] }[key];
    this.#change(null, (state, box, natural) => moved(state, dx, dy, box, natural));
  }

  reset() {
    this.#change(null, () => ({ ...WHOLE }));
  }

  draw() {
    for (const box of this.boxes()) this.#draw(box);
  }

  #of(box) {
    return this.states.get(box) ?? WHOLE;
  }

  #boxAt(event) {
    return this.boxes().find((box) => {
      const frame = box.getBoundingClientRect();
      return event.clientX >= frame.left && event.clientX <= frame.right && event.clientY >= frame.top && event.clientY <= frame.bottom;
    });
  }

  #wheel(event) {
    const box = this.#boxAt(event);
    if (!box || event.ctrlKey && event.deltaY === 0) return;
    event.preventDefault();
    const notch = event.ctrlKey ? 60 : 240; // a pinch on a trackpad comes as a fine wheel with Ctrl
    this.#zoomAt(event, box, STEP ** (-event.deltaY / notch * 2), event.altKey);
  }

  #double(event) {
    const box = this.#boxAt(event);
    if (!box || event.target.closest("button:not(.box)")) return;
    if (this.#of(box).scale > 1) this.#change(event.altKey ? box : null, () => ({ ...WHOLE }));
    else this.#zoomAt(event, box, DOUBLE, event.altKey);
  }

  #zoomAt({ clientX, clientY }, box, factor, alone) {
    const frame = box.getBoundingClientRect();
    const [px, py] = [(clientX - frame.left) / frame.width, (clientY - frame.top) / frame.height];
    this.#change(alone ? box : null, (state, size, natural) => zoomedAt(state, state.scale * factor, px, py, size, natural), box);
  }

  #down(event) {
    const box = this.#boxAt(event);
    if (!box || (event.pointerType === "mouse" && event.button !== 0)) return;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, box, alone: event.altKey });
  }

  #up(event) {
    this.fingers.delete(event.pointerId);
    if (event.pointerType === "touch" && event.type === "pointerup" && this.fingers.size === 0) this.#tapped(event);
  }

  // Two taps in a moment are a double click; the browser sends none where it leaves touches to us.
  #tapped(event) {
    const last = this.tap;
    this.tap = { at: event.timeStamp, x: event.clientX, y: event.clientY };
    if (!last || event.timeStamp - last.at > 300 || Math.hypot(event.clientX - last.x, event.clientY - last.y) > 30) return;
    this.tap = null;
    this.#double(event);
  }

  #move(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const before = { ...finger };
    Object.assign(finger, { x: event.clientX, y: event.clientY });
    const others = [...this.fingers.entries()].filter(([id]) => id !== event.pointerId).map(([, one]) => one);
    const frame = finger.box.getBoundingClientRect();
    if (others.length === 1) {
      const [other] = others;
      const spread = (one) => Math.hypot(one.x - other.x, one.y - other.y);
      const middle = { clientX: (finger.x + other.x) / 2, clientY: (finger.y + other.y) / 2 };
      this.#zoomAt(middle, finger.box, spread(finger) / Math.max(1, spread(before)), false);
    } else if (others.length === 0 && this.#of(finger.box).scale > 1) {
      const [dx, dy] = [(finger.x - before.x) / frame.width, (finger.y - before.y) / frame.height];
      this.#change(finger.alone ? finger.box : null, (state, box, natural) => moved(state, dx, dy, box, natural));
    }
  }

  // Change the box `at`, and with it those that stand as it does: they show the same place of their pictures.
  #change(only, change, at = only ?? this.boxes()[0]) {
    if (!at?.querySelector("img")) return;
    const before = this.#of(at);
    const after = change(before, sizeOf(at), naturalOf(at));
    for (const box of only ? [only] : this.boxes()) {
      if (!box.querySelector("img")) continue;
      const own = this.#of(box);
      this.states.set(box, box === at || alike(own, before) ? after : change(own, sizeOf(box), naturalOf(box)));
      this.#draw(box);
    }
  }

  #draw(box) {
    const state = this.#of(box);
    box.classList.toggle("zoomed", state.scale > 1);
    for (const image of box.querySelectorAll("img")) {
      if (state.scale === 1) {
        image.style.transform = "";
        continue;
      }
      const { left, top } = laid(state, sizeOf(box), naturalOf(box));
      image.style.transform = `translate(${left}px, ${top}px) scale(${state.scale})`;
      sharpen(image, this.fullOf(image));
    }
  }
}

function alike(one, other) {
  return ["scale", "u", "v", "x", "y"].every((name) => one[name] === other[name]);
}

function sizeOf(box) {
  return { width: box.clientWidth, height: box.clientHeight };
}

function naturalOf(box) {
  const image = box.querySelector("img");
  return { width: image?.naturalWidth || 1, height: image?.naturalHeight || 1 };
}
