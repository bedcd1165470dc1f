// A closer look at one candidate of a grid: as large as the query, in the place of the tiles.

import { make, write } from "./dom.js";
import { Side } from "./sides.js";

export class Peek {
  constructor({ texts, about, urlOf, name, onStep, onMark, onClose }) {
    this.side = new Side("candidate", name, { texts, about, urlOf });
    this.box = this.side.box;
    this.urlOf = urlOf;
    const step = (key, text, sign) => make("button", { type: "button", class: "tool", "aria-label": text, onclick: () => onStep(key) }, make("span", { text: sign, "aria-hidden": "true" }));
    this.number = make("span", { class: "peek-number" });
    this.sign = make("span", { class: "text" });
    this.mark = make("button", { type: "button", class: "tool mark-button", onclick: onMark }, this.sign);
    const { page } = texts;
    this.figure = make("div", { class: "peek", hidden: true },
      make("div", { class: "peek-bar" }, step("ArrowLeft", page.previousCandidate, "‹"), this.number, step("ArrowRight", page.nextCandidate, "›"), this.mark,
        make("button", { type: "button", class: "tool", onclick: onClose }, make("span", { class: "text", text: page.closePeek }), make("kbd", { text: "Esc", "aria-hidden": "true" }))),
      this.side.figure);
    this.shown = false;
  }

  // The small picture at once, the large one as soon as it is there.
  show(task, pictures, urls) {
    const { thumb, candidate } = urls(task);
    const image = make("img", { src: pictures.isBroken(thumb) ? candidate : thumb });
    this.side.show(image, task.candidate);
    const large = new Image();
    large.src = candidate;
    large.decode().then(() => {
      if (image.isConnected && this.side.picture === task.candidate) image.src = candidate;
    }, () => {});
    this.figure.hidden = false;
    this.shown = true;
  }

  say(number, words, sign, state) {
    write(this.number, number);
    write(this.sign, `${sign} ${words}`.trim());
    this.mark.dataset.state = state;
    this.mark.setAttribute("aria-pressed", String(state === "marked"));
  }

  hide() {
    this.figure.hidden = true;
    this.shown = false;
  }
}
