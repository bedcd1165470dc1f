// A pair: query and candidate side by side, each as large as it can be.

import { Beside } from "./beside.js";
import { afterPaint, heldButton, keyButton, make, write } from "./dom.js";
import { Loupe } from "./loupe.js";
import { Side } from "./sides.js";
import { fill } from "./words.js";
import { Zoom } from "./zoom.js";

const ROLES = ["query", "candidate"];
const PLAIN = { aspects: [], similarFrom: null, notes: false };
const fullOf = (image) => image.dataset.full ?? null;

export class PairView {
  // urls(task) -> {query, candidate}; signs(action) -> {name, sign}; names: of the sides; more: actions behind the answers.
  constructor({ texts, pictures, urls, urlOf, about, names, signs, onAction, onPainted, form = PLAIN, more = ["undo", "flag", "loupe", "flicker"] }) {
    Object.assign(this, { texts, pictures, urls, signs, onAction, onPainted, form, more, kind: "pair", turn: 0 });
    this.sides = Object.fromEntries(ROLES.map((role) => [role, new Side(role, names[role], { texts, about, urlOf })]));
    this.said = make("span");
    this.kept = make("button", { type: "button", class: "keep", onclick: () => this.onAction("keep") });
    this.before = make("p", { class: "before" }, this.said, this.kept);
    this.beside = new Beside(form, texts);
    this.stage = make("div", { class: "pair" }, ...ROLES.map((role) => this.sides[role].figure));
    this.controls = make("div", { class: "answers" });
    const boxes = () => ROLES.map((role) => this.sides[role].box);
    this.loupe = new Loupe(boxes, { fullOf });
    this.zoom = new Zoom(this.stage, boxes, { fullOf });
    this.relabel();
    this.clear();
  }

  relabel() {
    const button = (action, tone) => keyButton({ action, text: this.texts.actions[action], key: this.signs(action), tone, onPress: () => this.onAction(action) });
    this.kept.replaceChildren(this.texts.page.keep, " ", make("kbd", { text: this.signs("keep").sign, "aria-hidden": "true" }));
    this.kept.hidden = true;
    const held = (action) => heldButton({ action, text: this.texts.actions[action], key: this.signs(action), onAction: this.onAction });
    const aside = make("div", { class: "more" }, ...this.more.map((action) => (["loupe", "flicker"].includes(action) ? held(action) : button(action, "small"))));
    this.main = make("div", { class: "main", role: "group", "aria-label": this.texts.page.question }, ...(this.form.similarFrom === null ? [button("different", "answer"), button("unsure", "middle"), button("similar", "answer")] : this.#grades(button)));
    this.controls.replaceChildren(this.before, ...(this.beside.used ? [this.beside.root] : []), this.main, aside);
  }

  // A button for each grade, from left to right, its digit on it.
  #grades(button) {
    const words = this.texts.page.grades;
    const grades = words.map((text, grade) => keyButton({
      action: `grade-${grade}`, text, key: { name: String(grade), signs: [String(grade)] }, tone: "middle grade", onPress: () => this.onAction(`grade-${grade}`),
    }));
    return [...grades, button("unsure", "middle")];
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
    this.zoom.reset();
    this.beside.clear();
    for (const role of ROLES) this.sides[role].show(this.pictures.ready(found[role]), task[role]);
    const given = values.has(task.assignment);
    write(this.said, given ? this.#said(values.get(task.assignment)) : task.returned ? this.texts.page.returned : "");
    this.kept.hidden = !given;
    this.stage.dataset.assignment = task.assignment;
    this.shown = unit;
    afterPaint(() => {
      if (turn !== this.turn) return;
      this.painted = ROLES.every((role) => this.sides[role].box.firstChild?.complete && this.sides[role].box.firstChild.naturalWidth > 0);
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
    else this.zoom.key(action);
  }

  // Shift with an arrow moves what is zoomed.
  pan(key) {
    this.zoom.arrow(key);
  }

  // A digit is a grade's or an aspect's; else it shows the further picture of that number, on both sides.
  digit(sign) {
    if (this.form.similarFrom !== null && Number(sign) < this.texts.page.grades.length) {
      this.onAction(`grade-${sign}`);
      return;
    }
    if (this.beside.digit(sign) || this.form.aspects.length > 0) return;
    for (const role of ROLES) this.sides[role].turn(Number(sign) - 1);
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
    if (this.loupe.release()) this.zoom.draw();
    clearInterval(this.flickering);
    this.flickering = null;
    this.stage.classList.remove("flicker", "swapped");
  }
}
