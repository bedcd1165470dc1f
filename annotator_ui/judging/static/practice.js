// Practice: pairs with a known answer on the same page, with the same keys. After an answer comes what was expected,
// and why, without leaving the pair; at the end a result with what went wrong first.

import { make, write } from "./dom.js";
import { insist, Session } from "./session.js";
import { fill } from "./words.js";
import { makeToken } from "./token.js";

const VALUES = { similar: 1, different: 0, unsure: null };

export async function mount(parent, data) {
  const page = new Practice(parent, data);
  await page.start();
  return { update() {}, unmount: () => page.session.unmount() };
}

class Practice {
  constructor(parent, data) {
    Object.assign(this, { data, texts: data.texts, says: data.texts.practice, home: `${data.base}/api/campaigns/${data.campaign}/practice`, feedback: null });
    this.session = new Session(parent, data, {
      title: fill(this.says.title, { campaign: data.title }), more: ["loupe", "flicker"],
      on: {
        action: (action, event) => this.#act(action, event),
        shown: () => this.#shown(),
        relabel: () => this.session.view.controls.prepend(this.strip),
        broken: () => this.#state("broken", this.texts.page.broken, this.texts.page.brokenBody, []),
      },
    });
    this.verdict = make("span", { class: "verdict-words" });
    this.why = make("span", { class: "verdict-why" });
    this.next = make("span");
    const onward = make("button", { type: "button", class: "plain strong key-button", onclick: () => this.#onward() }, this.next, make("kbd", { text: "↵", "aria-hidden": "true" }));
    this.strip = make("div", { class: "feedback", role: "status", "aria-live": "polite", hidden: true }, this.verdict, this.why, onward);
    this.session.view.controls.prepend(this.strip);
  }

  async start() {
    this.session.frame.setStatus({ waiting: 0, refused: 0, offlineSince: null, signedOut: false });
    await this.#load({});
  }

  // The open round; `begin` starts another one after a round that fell short.
  async #load({ begin = false }) {
    this.#state("loading", this.texts.states.loadingTitle, this.texts.states.loadingBody, [], true);
    try {
      this.#took(await insist(this.home, { expert: this.data.expert, begin }));
    } catch (error) {
      this.#failed(error);
    }
  }

  #took(round) {
    this.round = round;
    this.session.learn(round.pictures);
    this.answers = round.answers;
    const units = round.tasks.map((task) => ({ kind: "pair", tasks: [{ ...task, assignment: task.task }] }));
    if (units.length === 0) return this.#result();
    this.feedback = null;
    return this.session.show(units, 0);
  }

  #shown() {
    const { answered, size } = { answered: this.answers.length, size: this.round.size };
    this.session.frame.setProgress({ left: size - answered, total: size, perHour: null });
    this.session.frame.setWhere({ text: fill(this.says.place, { place: answered + 1, count: size }), strong: false });
  }

  #act(action, event) {
    if (this.feedback) {
      if (action === "keep") this.#onward();
      return;
    }
    if (!(action in VALUES) || this.busy || !this.session.takes(event)) return;
    this.session.view.main.dataset.given = action; // the pressed button shows at once what was taken
    this.#answer(this.session.units[this.session.at].tasks[0], VALUES[action]);
  }

  async #answer(task, value) {
    this.busy = true;
    const content = { expert: this.data.expert, task: task.task, value, token: makeToken(), seconds: this.session.watch.seconds() };
    try {
      const offline = () => this.session.frame.setStatus({ waiting: 1, refused: 0, offlineSince: Date.now(), signedOut: false });
      const feedback = await insist(`${this.home}/answers`, content, { onWaiting: offline, stopped: () => this.session.stopped });
      this.session.frame.setStatus({ waiting: 0, refused: 0, offlineSince: null, signedOut: false });
      this.answers.push({ ...feedback, query: task.query, candidate: task.candidate });
      this.feedback = feedback;
      this.#tell(feedback);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.busy = false;
      delete this.session.view.main.dataset.given;
    }
  }

  #tell(feedback) {
    const { words, tone } = this.#verdict(feedback);
    this.strip.dataset.tone = tone;
    write(this.verdict, words);
    write(this.why, feedback.note || (feedback.expected === null ? "" : this.says.noReason));
    this.session.view.main.hidden = true;
    write(this.next, this.answers.length < this.round.size ? this.says.next : this.says.toResult);
    this.strip.hidden = false;
    this.session.frame.root.dispatchEvent(new CustomEvent("eds-told", { bubbles: true, composed: true }));
  }

  #verdict({ right, expected, value }) {
    const { actions } = this.texts;
    const said = (one) => (one === null ? actions.unsure : one === 1 ? actions.similar : actions.different);
    if (right === null) return { words: `○ ${fill(this.says.either, { given: said(value) })}`, tone: "either" };
    if (right) return { words: `✓ ${fill(this.says.right, { given: said(value) })}`, tone: "right" };
    return { words: `✕ ${fill(this.says.wrong, { given: said(value), expected: said(expected) })}`, tone: "wrong" };
  }

  #onward() {
    this.feedback = null;
    this.strip.hidden = true;
    this.session.view.main.hidden = false;
    const { units, at } = this.session;
    if (at + 1 < units.length) this.session.show(units, at + 1);
    else this.#finish();
  }

  async #finish() {
    try {
      this.#took(await insist(this.home, { expert: this.data.expert, begin: false }));
    } catch (error) {
      this.#failed(error);
    }
  }

  // What went wrong first, each with both pictures, what was said, what was expected, and why.
  #result() {
    const { round, says } = this;
    const order = { wrong: 0, either: 1, right: 2 };
    const rows = this.answers.map((feedback) => ({ feedback, ...this.#verdict(feedback) })).sort((one, other) => order[one.tone] - order[other.tone]);
    const cards = rows.map(({ feedback, words, tone }) => make("li", { class: "judged", "data-tone": tone },
      make("div", { class: "two" }, ...["query", "candidate"].map((side) => make("img", { src: this.session.urlOf("thumb", feedback[side]), alt: this.data.names[side] }))),
      make("p", { class: "verdict-words", text: words }), feedback.note ? make("p", { class: "verdict-why", text: feedback.note }) : null));
    const buttons = round.due
      ? [make("button", { type: "button", class: "plain strong", text: says.again, onclick: () => this.#load({ begin: true }) })]
      : [make("a", { class: "plain strong", text: says.begin, href: this.data.judge })];
    const score = fill(says.score, { right: round.right, counted: round.counted, needed: Math.round(round.needed * 100) });
    this.#state("result", round.due ? says.failedTitle : says.passedTitle, `${score} ${round.due ? says.failed : says.passed}`, buttons);
    const card = this.session.frame.stage.querySelector(".state");
    card.classList.add("wide");
    card.append(make("ul", { class: "result" }, ...cards));
    card.querySelector("button, a")?.focus();
    this.session.frame.setProgress({ left: 0, total: round.size, perHour: null });
  }

  #state(name, title, body, buttons, busy = false) {
    this.session.view.clear();
    this.session.frame.showState(name, { title, body, buttons, busy });
  }

  #failed(error) {
    const { states } = this.texts;
    const link = make("a", { class: "plain strong", text: states.home, href: this.data.home });
    if (error.status === 401) {
      const next = encodeURIComponent(window.location.pathname + window.location.search);
      this.#state("signedOut", states.signedOutTitle, this.says.signedOut, [make("a", { class: "plain strong", text: states.signIn, href: `${this.data.signIn}?next=${next}` })]);
    } else this.#state("denied", this.says.noneTitle, error.message, [link]);
  }
}
