// Adjudication: the pairs that need a lead's decision, on the same page, with the same keys; votes and flags below.
// A decision is kept in this browser first and sent behind the next pair, which is there at once.

import { make, write } from "./dom.js";
import { IndexedShelf, MemoryShelf, Outbox, ownerOf } from "./outbox.js";
import { Sender } from "./sender.js";
import { ask, Session } from "./session.js";
import { fill } from "./words.js";
import { Strip } from "./strip.js";
import { makeToken } from "./token.js";

const VALUES = { similar: 1, different: 0, unsure: null };
const KINDS = ["all", "votes", "flagged", "unsure"];

export async function mount(parent, data) {
  const page = new Adjudication(parent, data);
  await page.start();
  return { update() {}, unmount: () => page.stop() };
}

class Adjudication {
  constructor(parent, data) {
    const texts = { ...data.texts, actions: { ...data.texts.actions, unsure: data.texts.adjudicate.open }, page: { ...data.texts.page, last: data.texts.adjudicate.last } };
    Object.assign(this, { data, texts, says: data.texts.adjudicate, home: `${data.base}/api/campaigns/${data.campaign}`, kind: "all", undecided: true, cases: [], past: [], turn: 0, begun: false });
    this.session = new Session(parent, { ...data, texts }, {
      title: fill(this.says.title, { campaign: data.title }), more: ["undo", "loupe", "flicker"],
      on: { action: (action, event) => this.#act(action, event), shown: (unit) => this.#shown(unit), relabel: () => this.#arrange(), other: (event) => this.#key(event), broken: (unit) => this.#shown(unit) },
    });
    this.strip = new Strip({ texts, urlOf: this.session.urlOf, onGo: (entry) => this.#goTo(entry.unit.tasks[0].key) });
    this.votes = make("div", { class: "votes", role: "group", "aria-label": this.says.votes });
    this.note = make("input", { type: "text", class: "note-field", maxlength: 1000, placeholder: `${this.says.note} (N)`, "aria-label": this.says.note });
    this.note.addEventListener("keydown", (event) => {
      if (!["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      this.session.frame.root.focus({ preventScroll: true });
    });
    this.case = make("div", { class: "case-line" }, this.votes, this.note);
    this.choice = make("div", { class: "kinds" });
    this.session.frame.ask.insertBefore(this.choice, this.session.frame.where);
    this.#arrange();
  }

  async start() {
    const { data } = this;
    const owner = ownerOf(`${data.base}#adjudicate`, data.expert, data.campaign);
    const shelf = await IndexedShelf.open(owner).catch(() => new MemoryShelf());
    this.outbox = new Outbox(shelf);
    await this.outbox.load().catch(() => 0);
    this.sender = new Sender({ outbox: this.outbox, post: (acts) => this.#post(acts), onChange: () => this.#saving() });
    this.online = () => this.sender.kick({ hope: true });
    window.addEventListener("online", this.online);
    this.#state("loading", this.texts.states.loadingTitle, this.texts.states.loadingBody, [], true);
    try {
      await this.sender.kick({ hope: true }); // what an earlier page left behind counts
      const answer = await ask(`${this.home}/disputes`);
      this.session.learn(answer.pictures);
      this.cases = answer.cases.map((one) => ({ ...one, key: `${one.query}|${one.candidate}` }));
      this.#list();
    } catch (error) {
      const { states } = this.texts;
      this.#state("denied", error.status === 401 ? states.signedOutTitle : states.deniedTitle, error.message, [make("a", { class: "plain strong", text: states.home, href: data.home })]);
    }
  }

  stop() {
    window.removeEventListener("online", this.online);
    this.sender.stop();
    this.session.unmount();
  }

  async #post(acts) {
    const decisions = acts.filter((act) => act.query).map(({ token, query, candidate, value, note }) => ({ token, query, candidate, value, note }));
    const flags = acts.filter((act) => act.flag).map(({ token, flag, again }) => ({ token, flag, again }));
    try {
      return { status: 200, body: await ask(`${this.home}/decisions`, { expert: this.data.expert, decisions, flags }) };
    } catch (error) {
      if (!error.status) throw error;
      return { status: error.status, body: { error: error.message } };
    }
  }

  #saving() {
    this.session.frame.setStatus({ ...this.sender.state(), unkept: false });
  }

  #keep(act) {
    const kept = { ...act, token: makeToken(), at: Date.now(), turn: (this.turn += 1) };
    this.session.frame.root.dispatchEvent(new CustomEvent("eds-judged", { bubbles: true, composed: true, detail: [kept] }));
    this.outbox.add([kept]).then(() => this.sender.kick());
    this.#saving();
  }

  // The cases of the chosen kind, in the server's order.
  #list({ stay = null } = {}) {
    const { says } = this;
    const counts = Object.fromEntries(KINDS.map((kind) => [kind, this.cases.filter((one) => this.#fits(one, kind)).length]));
    this.choice.replaceChildren(
      ...(this.data.campaigns.length > 1 ? [make("select", { class: "campaigns", "aria-label": says.campaign, onchange: (event) => window.location.assign(event.target.value) },
        ...this.data.campaigns.map(({ title, href }) => make("option", { value: href, text: title, selected: title === this.data.title })))] : []),
      ...KINDS.map((kind) => make("button", { type: "button", class: "chip", "aria-pressed": String(kind === this.kind), text: `${says.kinds[kind]} (${counts[kind]})`, onclick: () => this.#choose({ kind }) })),
      make("button", { type: "button", class: "chip", "aria-pressed": String(this.undecided), text: says.undecided, onclick: () => this.#choose({ undecided: !this.undecided }) }));
    this.list = this.cases.filter((one) => this.#fits(one, this.kind));
    const units = this.list.map((one) => ({ kind: "pair", tasks: [{ key: one.key, query: one.query, candidate: one.candidate, assignment: one.key }] }));
    if (units.length === 0) {
      this.#state("nothing", says.noneTitle, says.none, [make("a", { class: "plain strong", text: says.toCampaign, href: this.data.home })]);
      this.session.frame.ask.hidden = false;
      return;
    }
    this.session.show(units, Math.max(0, units.findIndex((unit) => unit.tasks[0].key === stay)));
  }

  #fits(one, kind) {
    return (kind === "all" || one.kinds.includes(kind)) && (!this.undecided || one.decided.length === 0 || one.held);
  }

  #choose(change) {
    Object.assign(this, change);
    for (const one of this.cases) one.held = false;
    this.#list();
  }

  #shown(unit) {
    const one = this.#caseOf(unit);
    const { says } = this;
    const { actions } = this.data.texts;
    const word = (value) => (value === null ? actions.unsure : value === 1 ? actions.similar : actions.different);
    const signs = { 1: "✓", 0: "✕", null: "?" };
    const chip = (tone, text, title = "") => make("span", { class: "vote", "data-tone": tone, title: title || null, text });
    this.votes.replaceChildren(
      ...one.votes.map(({ expert, value, seconds, grade, aspects, note }) => chip({ 1: "similar", 0: "different", null: "unsure" }[value],
        [`${signs[value]} ${expert}`, grade === null ? null : String(grade), seconds === null ? null : fill(says.seconds, { seconds }), aspects, note && `“${note}”`].filter(Boolean).join(" · "), word(value))),
      ...one.flags.map((flag) => make("span", { class: "vote", "data-tone": "flag" }, fill(says.flagged, flag), " ",
        make("button", { type: "button", class: "keep", text: says.resolve, onclick: () => this.#flag(one, flag, false) }), make("button", { type: "button", class: "keep", text: says.askAgain, onclick: () => this.#flag(one, flag, true) }))),
      ...one.decided.map(({ expert, value, note }) => chip("decided", [fill(says.decided, { expert, answer: word(value) }), note].filter(Boolean).join(" · "))));
    this.note.value = one.decided[0]?.note ?? "";
    if (this.strip.root.parentElement !== this.session.view.controls) this.session.view.controls.prepend(this.strip.root);
    setTimeout(() => this.strip.draw(this.past));
    const left = this.list.filter((other) => other.decided.length === 0).length;
    this.session.frame.setWhere({ text: fill(says.place, { place: this.session.at + 1, count: this.list.length, left }), strong: false });
    this.session.frame.setProgress({ left, total: this.list.length, perHour: null });
    write(this.session.view.said, "");
  }

  #caseOf(unit) {
    return this.cases.find((one) => one.key === unit.tasks[0].key);
  }

  #act(action, event) {
    if (action === "undo") return this.#goTo(this.past.at(-1)?.unit.tasks[0].key);
    if (!(action in VALUES) || !this.session.takes(event)) return undefined;
    const unit = this.session.units[this.session.at];
    const one = this.#caseOf(unit);
    const value = VALUES[action];
    if (value === null && one.decided.length === 0) return this.#step(1); // left open: nothing to take back
    const { query, candidate, key } = one;
    const note = this.note.value.trim();
    this.#keep({ query, candidate, value, note });
    one.decided = value === null ? [] : [{ expert: this.data.expert, value, note }];
    one.held = true; // it stays in the list until another one is chosen, so that one can go back
    this.past = [...this.past.filter((entry) => entry.unit.tasks[0].key !== key), { unit, values: new Map([[key, value]]) }];
    return this.#step(1);
  }

  #flag(one, flag, again) {
    this.#keep({ flag: flag.flag, again });
    one.flags = one.flags.filter((other) => other !== flag);
    this.#shown(this.session.units[this.session.at]);
  }

  #step(by) {
    const { units, at } = this.session;
    const aim = at + by;
    if (aim < 0) return;
    if (aim < units.length) this.session.show(units, aim);
    else this.#choose({}); // those that are left, if any
  }

  // Back to a case that was decided, wherever it stands now.
  #goTo(key) {
    const one = this.cases.find((other) => other.key === key);
    if (!one) return;
    one.held = true;
    this.#list({ stay: key });
  }

  // N writes a note; comma and full stop go back and forth without a decision.
  #key(event) {
    const step = { ",": -1, ".": 1 }[event.key];
    if (step !== undefined) this.#step(step);
    else if (event.key.toLowerCase() === "n") this.note.focus();
    else return false;
    return true;
  }

  #arrange() {
    this.session.view.controls.prepend(this.case);
    if (this.strip) this.session.view.controls.prepend(this.strip.root);
  }

  #state(name, title, body, buttons, busy = false) {
    this.session.view.clear();
    this.session.frame.showState(name, { title, body, buttons, busy });
  }
}
