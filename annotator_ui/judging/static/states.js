// What is shown when there is no pair to show, and why.

import { make } from "./dom.js";
import { fill } from "./words.js";

const SOON = 150; // ms: what is there sooner needs no word

// Waiting for pictures means something else without a network: that must be said, and what is kept. Nobody is
// ahead of a network that has brought nothing yet.
export function named(name, { offlineSince, waiting, begun }) {
  const found = name === "loading" && offlineSince !== null && waiting > 0 ? "ahead" : name;
  return found === "ahead" && !begun ? "unreached" : found;
}

export class States {
  constructor(app) {
    this.app = app;
    this.name = null;
  }

  is(name) {
    return this.name === name;
  }

  // A pair is shown again.
  leave() {
    clearTimeout(this.timer);
    this.name = null;
  }

  // In a state without pictures, undo, guideline and help still have their keys.
  keysFor() {
    const { app } = this;
    return !app.dialogs.open && ["finished", "broken", "ahead", "aside"].includes(this.name) ? app.data.view : null;
  }

  showSoon(name) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(name), SOON);
  }

  // Which state an empty queue means.
  idle() {
    const { queue } = this.app.flow;
    if (!queue.exhausted || this.app.sender.state().waiting > 0) this.showSoon("loading");
    else if (this.app.closed) this.show("closed");
    else if (queue.aside.size > 0) this.show("aside");
    else if (this.app.left.total === 0) this.show("empty");
    else this.#finish();
  }

  // Nothing waits and the server has no more: what an answer that crossed the last judgement counted is judged.
  #finish() {
    this.app.left.left = 0;
    this.app.progress();
    this.show("finished");
  }

  show(wanted) {
    clearTimeout(this.timer);
    const { app } = this;
    if (app.introduced && ["loading", "ahead"].includes(wanted)) return; // they are loaded behind the first screen
    app.introduced = false;
    const name = named(wanted, { ...app.saved(), begun: app.begun });
    this.name = name;
    const { states, page, actions } = app.texts;
    const button = (text, press, strong = true) => make("button", { type: "button", class: strong ? "plain strong" : "plain", text, onclick: press });
    const link = (text, href, strong = true) => make("a", { class: strong ? "plain strong" : "plain", text, href });
    const home = link(states.home, app.data.home);
    const again = button(states.again, () => app.resume(), false);
    const undo = button(actions.undo, () => app.acts.act("undo"), false);
    const retry = () => {
      app.pictures.retry();
      app.resume();
    };
    const next = encodeURIComponent(window.location.pathname + window.location.search);
    const found = {
      loading: () => ({ title: states.loadingTitle, body: states.loadingBody, busy: true }),
      ahead: () => ({ title: states.aheadTitle, body: states.aheadBody, sign: "…", buttons: [undo] }),
      unreached: () => ({ title: states.unreachedTitle, body: states.unreachedBody, sign: "…", buttons: [button(page.retry, () => app.flow.hope()), link(states.home, app.data.home, false)] }),
      finished: () => ({ title: states.finishedTitle, body: states.finishedBody, sign: "✓", buttons: [...(app.data.password ? [link(page.choosePassword, app.data.password), link(states.home, app.data.home, false)] : [home]), again, undo] }),
      empty: () => ({ title: states.emptyTitle, body: states.emptyBody, sign: "○", buttons: [home, again] }),
      closed: () => ({ title: states.closedTitle, body: states.closedBody, sign: "■", buttons: [home] }),
      denied: () => ({ title: states.deniedTitle, body: states.deniedBody, sign: "–", buttons: [home] }),
      aside: () => ({ title: fill(states.asideTitle, { count: app.flow.queue.aside.size }), body: states.asideBody, sign: "!", buttons: [button(page.retry, retry), link(states.home, app.data.home, false)] }),
      broken: () => ({ title: page.broken, body: page.brokenBody, sign: "!", buttons: [button(page.retry, retry), button(actions.flag, () => app.acts.act("flag"), false), button(page.skip, () => app.flow.leave(), false)] }),
      standby: () => ({ title: states.standbyTitle, body: states.standbyBody, sign: "‖", buttons: [button(states.standbyButton, () => app.takeOver().catch(() => {}))] }),
      signedOut: () => ({ title: states.signedOutTitle, body: fill(states.signedOutBody, { count: app.outbox.size }), sign: "!", buttons: [link(states.signIn, `${app.data.signIn}?next=${next}`)] }),
    }[name]();
    if (name === "finished") app.frame.setNote(""); // it offers what the line above the pictures did
    for (const view of Object.values(app.views)) view.clear();
    app.frame.showState(name, found);
  }

  // The lead put another version in force; answers are stored under the one that this page shows.
  guidelineChanged() {
    const { page, states } = this.app.texts;
    const reload = make("button", { type: "button", class: "plain", text: states.reload, onclick: () => window.location.reload() });
    this.app.frame.setNote(page.guidelineChanged, reload);
  }

  // Once after a long stretch of work; it goes away by itself with the next reminder or by its button.
  remind() {
    const { page } = this.app.texts;
    const { frame } = this.app;
    frame.setNote(page.rest, make("button", { type: "button", class: "plain", text: page.restOk, onclick: () => frame.setNote("") }));
  }
}
