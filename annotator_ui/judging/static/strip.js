// The last own answers as small pictures with what was said; a click goes there.

import { make } from "./dom.js";
import { fill } from "./words.js";

const SHOWN = 6;

export class Strip {
  // urlOf(size, name); onGo(entry).
  constructor({ texts, urlOf, onGo }) {
    Object.assign(this, { texts, urlOf, onGo, keys: "" });
    this.root = make("div", { class: "strip", role: "group", "aria-label": texts.page.last });
  }

  // Show the latest of these entries, the last one at the right.
  draw(entries) {
    const shown = entries.slice(-3 * SHOWN).filter((entry) => !entry.from).slice(-SHOWN);
    const keys = shown.map((entry) => `${entry.unit.tasks[0].assignment}:${[...entry.values.values()]}:${entry.flag?.token ?? ""}`).join("|");
    if (keys === this.keys) return;
    this.keys = keys;
    this.root.replaceChildren(...shown.map((entry) => this.#one(entry)));
  }

  #one(entry) {
    const [task] = entry.unit.tasks;
    const { sign, words, tone } = this.#said(entry);
    const picture = entry.unit.kind === "grid" ? task.query : task.candidate;
    const size = entry.unit.kind === "grid" ? "thumb" : "large"; // the one that the page has shown is there already
    const back = fill(this.texts.page.goTo, { answer: words });
    const label = tone === "page" ? `${sign}: ${back}` : back; // a label holds what is read on the button
    return make("button", { type: "button", class: "past", "data-tone": tone, title: words, "aria-label": label, onclick: () => this.onGo(entry) },
      make("img", { src: this.urlOf(size, picture), alt: "", draggable: "false" }), make("span", { class: "said", text: sign, "aria-hidden": "true" }));
  }

  #said({ unit, values, flag }) {
    const { actions, page } = this.texts;
    if (flag && values.size === 0) return { sign: "⚑", words: actions.flag, tone: "unsure" };
    if (unit.kind === "grid") {
      const similar = [...values.values()].filter((value) => value === 1).length;
      return { sign: `${similar}/${values.size}`, words: fill(page.pageSaid, { similar, count: values.size }), tone: "page" };
    }
    const value = values.get(unit.tasks[0].assignment);
    if (value === undefined || value === null) return { sign: "?", words: actions.unsure, tone: "unsure" };
    return value === 1 ? { sign: "✓", words: actions.similar, tone: "similar" } : { sign: "✕", words: actions.different, tone: "different" };
  }
}
