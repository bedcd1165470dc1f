// A pair: query and candidate side by side, each as large as it can be.

import { afterPaint, heldButton, keyButton, make, write } from "./dom.js";
import { Loupe } from "./loupe.js";
import { fill } from "./status.js";

export class PairView {
  // urls(task) -> {query, candidate, full: {query, candidate}}; signs(action) -> {name, sign}.
  constructor({ texts, pictures, urls, signs, onAction, onPainted }) {
    Object.assign(this, { texts, pictures, urls, signs, onAction, onPainted, kind: "pair", turn: 0 });
    this.boxes = { query: this.#box("query"), candidate: this.#box("candidate") };
    this.said = make("span");
    this.kept = make("button", { type: "button", class: "keep", onclick: () => this.onAction("keep") });
    this.before = make("p", { class: "before" }, this.said, this.kept);
    this.stage = make("div", { class: "pair" }, this.boxes.query.figure, this.boxes.candidate.figure);
    this.controls = make("div", { class: "answers" });
    this.loupe = new Loupe(() => [this.boxes.query.box, this.boxes.candidate.box], { fullOf: (image) => image.dataset.full ?? null });
    this.relabel();
    this.clear();
  }

  #box(role) {
    const box = make("div", { class: "box" });
    const figure = make("figure", { class: role }, make("figcaption", { text: this.texts.page[role] }), box);
    return { figure, box };
  }

  relabel() {
    const button = (action, tone) => keyButton({ action, text: this.texts.actions[action], key: this.signs(action), tone, onPress: () => this.onAction(action) });
    write(this.kept, fill(this.texts.page.keep, { key: this.signs("keep").sign }));
    this.kept.hidden = true;
    const held = (action) => heldButton({ action, text: this.texts.actions[action], key: this.signs(action), onAction: this.onAction });
    const aside = make("div", { class: "more" }, button("undo", "small"), button("flag", "small"), held("loupe"), held("flicker"));
    this.controls.replaceChildren(this.before,
      make("div", { class: "main", role: "group", "aria-label": this.texts.page.question }, button("different", "answer"), button("unsure", "middle"), button("similar", "answer")), aside);
  }

  clear() {
    this.turn += 1;
    this.painted = false;
    this.shown = null;
  }

  wanted(unit) {
    const found = this.urls(unit.tasks[0]);
    return [found.query, found.candidate];
  }

  isReady(unit) {
    return this.wanted(unit).every((url) => this.pictures.ready(url) !== null);
  }

  // Show a pair whose pictures are decoded; the next frame paints it.
  show(unit, values) {
    this.clear();
    const turn = this.turn;
    const task = unit.tasks[0];
    const found = this.urls(task);
    this.release();
    for (const role of ["query", "candidate"]) {
      const image = this.pictures.ready(found[role]);
      image.alt = this.texts.page[role];
      image.dataset.full = found.full[role];
      image.draggable = false;
      const { box } = this.boxes[role];
      if (box.firstChild !== image) box.replaceChildren(image);
    }
    const given = values.has(task.assignment);
    write(this.said, given ? this.#said(values.get(task.assignment)) : task.returned ? this.texts.page.returned : "");
    this.kept.hidden = !given;
    this.stage.dataset.assignment = task.assignment;
    this.shown = unit;
    afterPaint(() => {
      if (turn !== this.turn) return;
      this.painted = Object.values(this.boxes).every(({ box }) => box.firstChild?.complete && box.firstChild.naturalWidth > 0);
      this.paintedAt = performance.now();
      if (this.painted) this.onPainted(unit);
    });
  }

  #said(value) {
    const { actions, page } = this.texts;
    const answer = value === null ? actions.unsure : value === 1 ? actions.similar : actions.different;
    return fill(page.before, { answer });
  }

  press(action) {
    if (action === "loupe") this.loupe.hold();
    else if (action === "flicker") this.#flicker();
  }

  // Candidate and query by turns in the same place.
  #flicker() {
    if (this.flickering) return;
    this.stage.classList.add("flicker");
    const turn = () => this.stage.classList.toggle("swapped");
    turn();
    this.flickering = setInterval(turn, 450);
  }

  pointer(event) {
    this.loupe.pointer(event);
  }

  release() {
    this.loupe.release();
    clearInterval(this.flickering);
    this.flickering = null;
    this.stage.classList.remove("flicker", "swapped");
  }
}
