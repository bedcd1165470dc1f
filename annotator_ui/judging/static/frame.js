// What surrounds the pictures: the bar with progress and status, the line of announcements, and the states
// in which there is nothing to judge.

import { keepFocus, make, write } from "./dom.js";
import { statusOf } from "./status.js";
import { fill } from "./words.js";
import { spell } from "./speed.js";

const CALM = 300; // ms: what is saved sooner need not be told

export class Frame {
  constructor({ texts, campaign, question, homeUrl, onGuide, onHelp, onStatus, signs }) {
    this.texts = texts;
    const page = texts.page;
    this.left = make("span", { class: "left" });
    this.pace = make("span", { class: "pace" });
    this.meter = make("progress", { max: 1, value: 0, "aria-label": page.progress });
    this.status = make("button", { type: "button", class: "status", "data-tone": "good", onclick: onStatus, "aria-live": "polite" });
    this.live = make("div", { class: "unseen", role: "status", "aria-live": "polite" });
    this.note = make("div", { class: "note", hidden: true });
    this.question = make("p", { class: "question", text: question });
    this.where = make("p", { class: "where" });
    this.ask = make("div", { class: "ask", hidden: true }, this.question, this.where);
    this.stage = make("div", { class: "stage" });
    this.desk = make("div", { class: "desk" }, this.stage);
    this.controls = make("div", { class: "controls" });
    const tool = (action, press) =>
      make("button", { type: "button", class: "tool", "data-action": action, onclick: press },
        make("span", { class: "text", text: texts.actions[action] }), make("kbd", { text: signs(action), "aria-hidden": "true" }));
    this.tools = { guide: tool("guide", onGuide), help: tool("help", onHelp) };
    this.root = make("section", { class: "judging", "aria-label": campaign, tabindex: "-1" },
      make("header", { class: "bar" },
        make("a", { class: "back", href: homeUrl }, make("span", { text: "‹", "aria-hidden": "true" }), make("span", { class: "text", text: page.back })),
        make("h1", { text: campaign }), this.left, this.pace, this.status, this.tools.guide, this.tools.help),
      this.meter, this.note, this.ask, this.desk, this.controls, this.live);
    keepFocus(this.root);
    this.setStatus({ waiting: 0, refused: 0, offlineSince: null, signedOut: false });
  }

  signs(signs) {
    for (const [action, button] of Object.entries(this.tools)) button.querySelector("kbd").textContent = signs(action);
  }

  // Good news are shown at once, ordinary waiting only if it lasts, trouble at once.
  setStatus(state) {
    this.state = state;
    const told = statusOf(state, this.texts.status);
    this.root.dataset.waiting = String(state.waiting);
    if (told.tone !== "busy") {
      clearTimeout(this.calm);
      this.calm = null;
      this.#tell(told);
    } else if (!this.calm) {
      this.calm = setTimeout(() => {
        this.calm = null;
        this.#tell(statusOf(this.state, this.texts.status));
      }, CALM);
    }
  }

  #tell({ tone, text }) {
    write(this.status, text);
    if (this.status.dataset.tone !== tone) this.status.dataset.tone = tone;
  }

  // Where one is; `strong` is news.
  setWhere({ text, strong }) {
    write(this.where, text);
    this.where.classList.toggle("strong", strong);
  }

  setProgress({ left, total, perHour }) {
    const page = this.texts.page;
    write(this.left, total ? fill(page.left, { left, total }) : "");
    this.meter.value = total ? (total - left) / total : 0;
    const known = perHour !== null && left > 0;
    const time = known ? spell((left / perHour) * 60, page) : "";
    write(this.pace, known ? fill(page.remaining, { time }) : "");
  }

  announce(text) {
    this.live.textContent = text;
  }

  // A quiet line above the pictures; empty takes it away.
  setNote(text, ...buttons) {
    this.note.replaceChildren(...(text ? [make("span", { text }), ...buttons] : []));
    this.note.hidden = !text;
  }

  // Show a state instead of pictures: finished, offline, signed out ...
  showState(name, { title, body, buttons = [], busy = false, sign = "" }) {
    this.root.dataset.state = name;
    this.ask.hidden = true;
    const card = make("div", { class: "state", "data-state": name, role: "group", "aria-label": title },
      busy ? make("div", { class: "spinner", "aria-hidden": "true" }) : make("div", { class: "sign", text: sign, "aria-hidden": "true" }),
      make("h2", { text: title }), make("p", { text: body }), make("div", { class: "buttons" }, ...buttons));
    this.stage.replaceChildren(card);
    this.controls.replaceChildren();
    this.announce(`${title}. ${body}`);
    card.querySelector("button, a")?.focus();
  }

  showView(name, stage, controls) {
    if (this.root.dataset.state === name && this.stage.firstChild === stage) return;
    this.root.dataset.state = name;
    this.ask.hidden = false;
    this.stage.replaceChildren(stage);
    this.controls.replaceChildren(controls);
    this.root.focus({ preventScroll: true });
  }
}
