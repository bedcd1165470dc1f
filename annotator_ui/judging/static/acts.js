// What an expert does: answers, marks, undoes, flags. Every answer passes the guard, goes into the outbox, and only then on.

import { dialogOpen, refusal } from "./guard.js";
import { make } from "./dom.js";
import { fill } from "./words.js";
import { makeToken } from "./token.js";

const QUICK = { pairs: 20, grid: 0.06, pair: 0.2 }; // so many answers, each in less than so many seconds
const COME_BACK = 10; // answers after which a password is asked for
const VALUES = { similar: 1, different: 0, unsure: null };

export class Acts {
  constructor(app) {
    this.app = app;
    this.undoing = false;
  }

  // An action of a key, a button or a finger.
  act(action, event = null) {
    const { app } = this;
    if (action.endsWith("-end")) return app.release(action.slice(0, -4));
    const { dialogs, page } = app.texts;
    if (action === "guide") return app.guide();
    if (action === "help") return this.#help();
    if (app.dialogs.open || dialogOpen() || app.standby || app.sender.signedOut || event?.repeat) return undefined;
    if (action === "undo") return this.#undo();
    const unit = app.flow.current;
    if (!unit) return undefined;
    if (action === "flag") {
      if (!app.view.shown && !app.states.is("broken")) return undefined;
      const grid = unit.kind === "grid" && Boolean(app.view.shown);
      if (grid) app.view.settle();
      const place = grid ? app.view.page.focus : 0;
      const title = grid ? fill(dialogs.flagTitleGrid, { number: place + 1 }) : dialogs.flagTitle;
      const task = unit.tasks[place]; // the one that the dialog names, whatever happens below it
      return app.dialogs.flag(title, (reason) => this.#flag(unit, task, reason));
    }
    if (["loupe", "flicker", "peek", "zoomIn", "zoomOut", "zoomWhole"].includes(action)) return app.view.painted && app.view.press(action);
    if (action === "save" && app.view.closePeek?.()) return undefined; // first back to the page
    if (action === "keep") return unit.values && app.view.painted ? this.#go(unit, new Map()) : undefined;
    if (unit.kind === "grid" && action === "toggle" && event?.shiftKey) return app.view.painted && app.view.markLast();
    if (unit.kind === "grid" && action !== "save") return app.view.painted && app.view.press(action);
    const why = this.#refusal(event);
    if (why !== null) {
      app.frame.root.dataset.refused = why;
      return undefined;
    }
    if (unit.kind === "pair") return this.#answer(unit, action);
    app.view.settle();
    if (app.view.hiddenPlaces().length > 0) {
      app.frame.announce(fill(app.texts.grid.below, { count: app.view.hiddenPlaces().length }));
      return app.view.scrollToHidden();
    }
    return this.#go(unit, app.view.answers());
  }

  #refusal(event) {
    const { app } = this;
    const { painted, paintedAt } = app.view;
    return refusal({
      painted, paintedAt, pressedAt: event?.timeStamp ?? performance.now(), repeat: event?.repeat ?? false, hidden: document.hidden,
      dialog: app.dialogs.open || dialogOpen(), standby: app.standby, signedOut: app.sender.signedOut,
    });
  }

  // A pair's answer, with what is said beside it; a grade means similar from the campaign's own grade on.
  #answer(unit, action) {
    const { form } = this.app.data;
    const [task] = unit.tasks;
    const ends = { different: "grade-0", similar: "grade-3" };
    const said = form.similarFrom === null ? action : (ends[action] ?? action); // the keys at the ends are the outer buttons'
    const beside = this.app.views.pair.beside.take();
    if (said.startsWith("grade-") && form.similarFrom !== null) {
      const grade = Number(said.slice(6));
      return this.#go(unit, new Map([[task.assignment, grade >= form.similarFrom ? 1 : 0]]), { ...beside, grade });
    }
    return said in VALUES ? this.#go(unit, new Map([[task.assignment, VALUES[said]]]), beside) : undefined;
  }

  // Once in a session: a page that went by faster than anybody can look.
  #quick(kind, count, seconds) {
    const { app } = this;
    if (this.asked || count < QUICK.pairs || seconds / count > QUICK[kind]) return;
    this.asked = true;
    const { page } = app.texts;
    const look = make("button", { type: "button", class: "plain", text: page.lookAgain, onclick: () => {
      app.frame.setNote("");
      this.#undo();
    } });
    const fine = make("button", { type: "button", class: "plain", text: page.allRight, onclick: () => app.frame.setNote("") });
    app.frame.setNote(fill(page.quick, { count, seconds: Math.max(1, Math.round(seconds)) }), look, fine);
  }

  // Store these values and go on. What stands in the unit's values already stays as it is.
  #go(unit, values, beside = {}) {
    const { app } = this;
    this.#pace(unit, values);
    const seconds = Math.round((app.watch.seconds() / Math.max(1, values.size)) * 1000) / 1000;
    const { version } = app.data.guideline;
    const extra = version ? { guideline: version } : {};
    const acts = [...values].map(([assignment, value]) => ({ assignment, value, seconds, mode: unit.kind, ...extra, ...beside }));
    const fresh = [...values].filter(([assignment, value]) => !unit.values?.has(assignment) && (value !== null || taskOf(unit, assignment).returned));
    app.left.left = Math.max(0, app.left.left - fresh.length);
    if (values.size > 0) app.speed.note(values.size, app.watch.seconds());
    this.#keep(acts); // before going on: what is asked for next must leave these out
    app.flow.done(unit, new Map([...(unit.values ?? []), ...values]));
    app.progress();
    this.#announceNext();
    if (app.speed.restDue()) app.states.remind();
    else this.#comeBack(values.size);
  }

  // Once, after the first answers: who came by an invitation needs a password to come back.
  #comeBack(count) {
    const { app } = this;
    this.given = (this.given ?? 0) + count;
    if (!app.data.password || this.reminded || this.given < COME_BACK) return;
    this.reminded = true;
    const { page } = app.texts;
    const next = encodeURIComponent(`${window.location.pathname.slice(app.data.base.length)}?campaign=${app.data.campaign}`);
    app.frame.setNote(page.password, make("a", { class: "plain", text: page.choosePassword, href: `${app.data.password}?next=${next}` }),
      make("button", { type: "button", class: "plain", text: page.later, onclick: () => app.frame.setNote("") }));
  }

  // How many answers in how much time: of the last pairs or pages, as many as it takes to tell.
  #pace({ kind }, { size }) {
    if (size === 0) return; // what was only looked at again
    let recent = [...(this.recent ?? []).filter((one) => one.kind === kind), { kind, size, seconds: this.app.watch.seconds() }];
    const total = (of) => recent.reduce((sum, one) => sum + one[of], 0);
    while (total("size") - recent[0].size >= QUICK.pairs) recent = recent.slice(1);
    this.recent = recent;
    this.#quick(kind, total("size"), total("seconds"));
  }

  #flag(unit, task, reason) {
    const { app } = this;
    const act = { assignment: task.assignment, reason };
    this.#keep([act]);
    const flag = { token: act.token, assignment: task.assignment };
    app.frame.announce(app.texts.page.flagged);
    if (app.flow.current !== unit) return undefined; // the page went on behind the dialog
    const place = unit.tasks.indexOf(task);
    if (unit.kind !== "grid" || app.view.shown !== unit || place < 0) return app.flow.done(unit, unit.values ?? new Map(), { flag });
    unit.tasks = unit.tasks.filter((other) => other !== task);
    app.flow.queue.release({ tasks: [task] }); // so that it can come back
    // Alone it comes back as a pair, which may be left unanswered; to a page that is still shown it returns.
    app.flow.past.push({ unit: { kind: "pair", tasks: [task] }, values: new Map(), flag, from: unit, place, was: app.view.remove(place) });
    return unit.tasks.length === 0 ? app.flow.advance() : undefined;
  }

  // Into the outbox first, then to the server.
  #keep(acts) {
    const { app } = this;
    if (acts.length === 0) return;
    const at = Date.now();
    for (const act of acts) Object.assign(act, { token: makeToken(), at, turn: (app.turn += 1) });
    app.frame.root.dispatchEvent(new CustomEvent("eds-judged", { bubbles: true, composed: true, detail: acts }));
    const kept = app.outbox.add(acts);
    const patience = new Promise((resolve) => setTimeout(resolve, 1000)); // a browser whose storage hangs
    Promise.race([kept, patience]).then(() => app.sender.kick());
    app.frame.setStatus(app.saved());
  }

  async #undo() {
    const { app } = this;
    if (this.undoing) return;
    this.undoing = true;
    try {
      const entry = app.flow.past.last;
      const found = this.#returned() || (await app.flow.back());
      if (found && entry?.flag) this.#keep([{ assignment: entry.flag.assignment, withdraws: entry.flag.token }]);
      app.frame.announce(found ? app.texts.page.undone : app.texts.page.nothingToUndo);
    } catch (error) {
      app.trouble(error);
    } finally {
      this.undoing = false;
    }
  }

  // Back to this answer of the strip; a flag is withdrawn, as by undo.
  revisit(entry) {
    const { app } = this;
    if (app.dialogs.open || dialogOpen() || app.standby || app.sender.signedOut || this.undoing) return;
    if (!app.flow.revisit(entry)) return;
    if (entry.flag) this.#keep([{ assignment: entry.flag.assignment, withdraws: entry.flag.token }]);
    app.frame.announce(app.texts.page.undone);
    app.frame.root.focus({ preventScroll: true });
  }

  // The candidate that was flagged last, if its page is still shown: it takes its place again.
  #returned() {
    const { app } = this;
    const last = app.flow.past.last;
    if (!last?.from || last.from !== app.flow.current || app.view.shown !== last.from) return false;
    const [task] = last.unit.tasks;
    if (!app.pictures.ready(app.urls(task).thumb)) return false; // it comes back alone, as soon as its picture is there
    app.flow.past.pop();
    app.flow.queue.drop([task.assignment]);
    app.flow.queue.hold({ tasks: [task] });
    const { tasks } = last.from;
    last.from.tasks = [...tasks.slice(0, last.place), task, ...tasks.slice(last.place)];
    app.view.putBack(last.place, task, last.was);
    return true;
  }

  #announceNext() {
    const { app } = this;
    const unit = app.flow.current;
    if (!unit) return;
    const { page } = app.texts;
    app.frame.announce(fill(unit.kind === "grid" ? page.nextPage : page.next, { left: app.left.left, count: unit.tasks.length }));
  }

  #help() {
    const { app } = this;
    const kind = app.view?.kind ?? app.data.view;
    app.dialogs.help({
      bindings: app.bindings.current[kind], defaults: app.bindings.defaults[kind], grid: kind === "grid",
      onBindings: (bindings) => {
        app.bindings.set(kind, bindings);
        for (const view of Object.values(app.views)) view.relabel();
        app.frame.signs((action) => app.bindings.sign(kind, action)?.sign ?? "");
      },
    });
  }
}

function taskOf(unit, assignment) {
  return unit.tasks.find((task) => task.assignment === assignment) ?? { returned: false };
}
