// What practice and adjudication share with judging: the bar, one pair view, keys, pictures, the guideline beside.
// Their units come and go as each of them says.

import { Bindings } from "./bindings.js";
import { Dialogs } from "./dialogs.js";
import { Dock, WIDE } from "./dock.js";
import { Frame } from "./frame.js";
import { dialogOpen, refusal } from "./guard.js";
import { Input } from "./input.js";
import { PairView } from "./pair.js";
import { checkPicture, Pictures } from "./pictures.js";
import { Stopwatch } from "./timing.js";

const NONE = new Map();
const AHEAD = 12; // pairs whose pictures are loaded

export class Session {
  // on: {action(action, event), escape()}; more: actions behind the answers.
  constructor(parent, data, { on, more, title }) {
    const { texts } = data;
    Object.assign(this, { parent, data, texts, on, units: [], at: 0, products: new Map(), watch: new Stopwatch() });
    this.bindings = new Bindings(data.expert);
    this.urlOf = (size, name) => `${data.base}/pictures/${size}/${name}`;
    this.pictures = new Pictures({ check: checkPicture, onBroken: () => this.#ready() });
    this.frame = new Frame({
      texts, campaign: title, question: data.question, homeUrl: data.home, signs: (action) => this.bindings.sign("pair", action)?.sign ?? "",
      onGuide: () => this.act("guide"), onHelp: () => this.act("help"), onStatus: () => {},
    });
    this.dialogs = new Dialogs(this.frame.root, texts);
    this.dialogs.onClosed = () => this.frame.root.focus({ preventScroll: true });
    this.dock = new Dock({ desk: this.frame.desk, texts, urlOf: this.urlOf, names: data.names, guideline: data.guideline, onClose: () => this.act("guide"), place: `eds-dock:${data.view}` });
    this.view = new PairView({
      texts, pictures: this.pictures, urls: (task) => this.urls(task), urlOf: this.urlOf, about: (name) => this.products.get(name), names: data.names, more,
      signs: (action) => this.bindings.sign("pair", action), onAction: (action) => this.act(action, window.event), onPainted: () => this.#painted(),
    });
    this.input = new Input({
      stage: this.frame.stage,
      active: () => (this.dialogs.open ? null : "pair"),
      bindings: () => this.bindings.current.pair,
      on: {
        action: (action, event) => this.act(action, event),
        arrow: () => {},
        digit: (sign) => this.on.digit?.(sign) || (this.view.painted && this.view.digit(sign)),
        pan: (key) => this.view.painted && this.view.pan(key),
        escape: () => false,
        release: () => this.view.release(),
        pointer: (event) => this.view.pointer(event),
        zoomed: () => this.view.zoom.active,
        other: (event) => this.on.other?.(event) ?? false,
      },
    });
    parent.append(this.frame.root);
    if (data.welcomed && window.innerWidth >= WIDE && data.guideline.examples.length > 0) this.dock.open({ keep: false });
  }

  urls(task) {
    return { query: this.urlOf("large", task.query), candidate: this.urlOf("large", task.candidate) };
  }

  learn(pictures = {}) {
    for (const [name, known] of Object.entries(pictures)) this.products.set(name, known);
  }

  act(action, event = null) {
    if (action.endsWith("-end")) return this.view.release();
    if (action === "guide") return this.guide();
    if (action === "help") return this.#help();
    if (this.dialogs.open || dialogOpen() || event?.repeat) return undefined;
    if (["loupe", "flicker", "zoomIn", "zoomOut", "zoomWhole"].includes(action)) return this.view.painted && this.view.press(action);
    return this.on.action(action, event);
  }

  // Whether an answer may be taken now: the pair was painted, a moment ago.
  takes(event) {
    return refusal({
      painted: this.view.painted, paintedAt: this.view.paintedAt, pressedAt: event?.timeStamp ?? performance.now(), repeat: event?.repeat ?? false, hidden: document.hidden,
      dialog: this.dialogs.open || dialogOpen(), standby: false, signedOut: false,
    }) === null;
  }

  guide() {
    const unit = this.units[this.at];
    const parts = { texts: this.texts, urlOf: this.urlOf, names: this.data.names, category: unit ? this.products.get(unit.tasks[0].query)?.kind : "" };
    if (window.innerWidth < WIDE) this.dialogs.guide(this.data.guideline, parts);
    else if (this.dock.shown) this.dock.close();
    else this.dock.open();
  }

  // These units, this one shown.
  show(units, at) {
    Object.assign(this, { units, at });
    const before = Math.max(0, at - 2);
    this.pictures.want([...new Set(units.slice(at, at + AHEAD).concat(units.slice(before, at)).flatMap((unit) => this.view.wanted(unit)))], units.slice(at, at + 1).flatMap((unit) => this.view.wanted(unit)));
    this.#ready();
  }

  #ready() {
    const unit = this.units[this.at];
    if (!unit || this.stopped) return;
    if (this.view.isReady(unit)) {
      this.frame.showView("pair", this.view.stage, this.view.controls);
      this.view.show(unit, NONE);
      this.dock.follow(this.products.get(unit.tasks[0].query)?.kind ?? "");
      this.on.shown?.(unit);
      return;
    }
    const wanted = this.view.wanted(unit);
    if (wanted.some((url) => this.pictures.isBroken(url))) {
      this.on.broken?.(unit);
      return;
    }
    Promise.all(wanted.map((url) => this.pictures.whenReady(url))).then(() => setTimeout(() => this.units[this.at] === unit && this.#ready()));
  }

  #painted() {
    this.watch.start(!document.hidden);
    this.frame.root.dispatchEvent(new CustomEvent("eds-painted", { bubbles: true, composed: true, detail: { at: performance.now() } }));
  }

  #help() {
    this.dialogs.help({
      bindings: this.bindings.current.pair, defaults: this.bindings.defaults.pair, grid: false,
      onBindings: (bindings) => {
        this.bindings.set("pair", bindings);
        this.view.relabel();
        this.on.relabel?.();
        this.frame.signs((action) => this.bindings.sign("pair", action)?.sign ?? "");
      },
    });
  }

  update() {}

  unmount() {
    this.stopped = true;
    this.input.stop();
    this.pictures.want([]);
    this.dialogs.close();
    this.frame.root.remove();
  }
}

// A request to the server's own routes: the body of an answer, or an error with its status.
export async function ask(path, content) {
  const post = content === undefined ? {} : { method: "POST", body: JSON.stringify(content) };
  const headers = { accept: "application/json", ...(post.body ? { "content-type": "application/json", "x-eds": "1" } : {}) };
  const answer = await fetch(path, { credentials: "same-origin", referrerPolicy: "no-referrer", signal: AbortSignal.timeout(10e3), headers, ...post });
  const json = (answer.headers.get("content-type") ?? "").includes("json");
  const body = json ? await answer.json() : null;
  if (!answer.ok || !json) throw Object.assign(new Error(body?.error ?? `status ${answer.status}`), { status: json ? answer.status : 0 });
  return body;
}

// The same again until the server takes it; what it refuses is thrown.
export async function insist(path, content, { onWaiting = () => {}, stopped = () => false } = {}) {
  for (let turn = 0; ; turn += 1) {
    try {
      return await ask(path, content);
    } catch (error) {
      if ([400, 401, 403, 404, 413, 422].includes(error.status) || stopped()) throw error;
      onWaiting();
      await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 250 * 2 ** turn)));
    }
  }
}
