// What may be said beside an answer: aspects as chips, each with a digit; a note, with N. It goes with the next answer.

import { make } from "./dom.js";

export class Beside {
  // form: {aspects, similarFrom, notes}; with grades the digits 0 to 3 are theirs.
  constructor(form, texts) {
    this.form = form;
    this.first = form.similarFrom === null ? 1 : 4;
    this.chips = form.aspects.map((aspect, place) => make("button", { type: "button", class: "chip", "aria-pressed": "false", onclick: () => this.toggle(place) },
      aspect, " ", place + this.first < 10 ? make("kbd", { text: place + this.first, "aria-hidden": "true" }) : null));
    this.note = form.notes ? make("input", { type: "text", class: "note-field", maxlength: 1000, placeholder: `${texts.page.note} (N)`, "aria-label": texts.page.note }) : null;
    this.root = make("div", { class: "case-line beside" }, make("div", { class: "votes", role: "group", "aria-label": texts.page.aspects }, ...this.chips), this.note);
  }

  get used() {
    return this.chips.length > 0 || this.note !== null;
  }

  toggle(place) {
    const chip = this.chips[place];
    chip?.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
  }

  // A digit is an aspect's; whether it was.
  digit(sign) {
    const place = Number(sign) - this.first;
    if (this.chips.length === 0 || place < 0 || place >= this.chips.length) return false;
    this.toggle(place);
    return true;
  }

  // What goes with the answer, as the server takes it.
  take() {
    const aspects = this.form.aspects.filter((_, place) => this.chips[place].getAttribute("aria-pressed") === "true").join(",");
    const note = this.note?.value.trim() ?? "";
    return { ...(aspects ? { aspects } : {}), ...(note ? { note } : {}) };
  }

  clear() {
    for (const chip of this.chips) chip.setAttribute("aria-pressed", "false");
    if (this.note) this.note.value = "";
  }
}
