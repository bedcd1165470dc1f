// The judging page as a whole: puts queue, pictures, outbox, views and states together. What each does stands in its file.

import { Acts } from "./acts.js";
import { Api, HttpError } from "./api.js";
import { Bindings } from "./bindings.js";
import { Claim } from "./claim.js";
import { Dialogs } from "./dialogs.js";
import { Dock, firstScreen, WIDE } from "./dock.js";
import { OtherCampaigns } from "./other_campaigns.js";
import { Flow } from "./flow.js";
import { Frame } from "./frame.js";
import { GridView } from "./gridview.js";
import { Input } from "./input.js";
import { IndexedShelf, MemoryShelf, Outbox, ownerOf } from "./outbox.js";
import { Speed } from "./speed.js";
import { PairView } from "./pair.js";
import { Places } from "./places.js";
import { checkPicture, Pictures } from "./pictures.js";
import { Sender, together } from "./sender.js";
import { States } from "./states.js";
import { fill } from "./words.js";
import { Strip } from "./strip.js";
import { Stopwatch } from "./timing.js";
import { makeToken } from "./token.js";
import { grouped } from "./undo.js";

const AHEAD = { pair: { depth: 30, low: 20 }, grid: { depth: 28, low: 21, page: 7 } }; // in pairs
const NO_VALUES = new Map();
const MOST_KNOWN = 3000; // pictures whose products are remembered
const SOON = 1000; // ms in which a server that can be reached answers

export class App {
  constructor(parent, data) {
    Object.assign(this, { parent, data, texts: data.texts, tab: makeToken(), turn: 0, standby: false, denied: false, unkept: false, begun: false, awaySince: null });
    this.api = new Api({ base: data.base, campaign: data.campaign, expert: data.expert, tab: this.tab });
    this.bindings = new Bindings(data.expert);
    this.watch = new Stopwatch();
    this.speed = new Speed();
    this.left = { left: 0, total: 0 };
    this.products = new Map();
    this.places = new Places({ texts: this.texts, size: data.size, grid: data.view === "grid" });
    this.urlOf = (size, name) => `${data.base}/pictures/${size}/${name}`;
    this.about = (name) => this.products.get(name);
  }

  async start() {
    const { data, texts } = this;
    this.off = new AbortController();
    const shelf = await this.#shelf();
    this.outbox = new Outbox(shelf);
    this.outbox.onTrouble = () => (this.unkept = true);
    await this.outbox.load().catch(() => (this.unkept = true));
    this.pictures = new Pictures({ check: checkPicture, onBroken: () => this.#ready() });
    this.sender = new Sender({
      outbox: this.outbox,
      post: (acts) => this.api.deliver(acts),
      onChange: () => this.#saving(),
      onStandby: () => this.#stand(),
      onStored: (acts) => this.#stored(acts),
    });
    this.otherCampaigns = new OtherCampaigns({
      base: data.base, expert: data.expert, shelf, besides: data.campaign, onChange: () => this.#saving(),
      post: (campaign, acts) => new Api({ base: data.base, campaign, expert: data.expert, tab: null }).deliver(acts),
    });
    this.frame = new Frame({
      texts, campaign: data.title, question: data.question, homeUrl: data.home, signs: (action) => this.bindings.sign(data.view, action)?.sign ?? "",
      onGuide: () => this.acts.act("guide"), onHelp: () => this.acts.act("help"), onStatus: () => this.#explain(),
    });
    this.dialogs = new Dialogs(this.frame.root, texts);
    this.dialogs.onClosed = () => this.frame.root.focus({ preventScroll: true });
    const { urlOf, about } = this;
    this.dock = new Dock({ desk: this.frame.desk, texts, urlOf, names: data.names, guideline: data.guideline, onClose: () => this.guide(), place: "eds-dock" });
    const common = { texts, pictures: this.pictures, urls: (task) => this.urls(task), urlOf, about, names: data.names, onPainted: () => this.#painted() };
    this.strip = new Strip({ texts, urlOf, onGo: (entry) => this.acts.revisit(entry) });
    const view = (kind) => ({ ...common, signs: (action) => this.bindings.sign(kind, action), onAction: (action) => this.acts.act(action, window.event) });
    this.views = { pair: new PairView({ ...view("pair"), form: data.form }) };
    if (data.view === "grid") this.views.grid = new GridView({ ...view("grid"), polarity: data.polarity, size: data.size });
    this.flow = new Flow({
      ...AHEAD[data.view], size: data.size, outbox: this.outbox, pictures: this.pictures,
      fetch: (count, skip) => (data.view === "grid" ? this.api.pages(count, data.size, skip) : this.api.tasks(count, skip)),
      history: async (count) => {
        const answer = await this.api.history(count);
        this.#learn(answer);
        this.#reached();
        return answer.answers;
      },
      wanted: (unit) => this.views[unit.kind].wanted(unit),
      further: (unit) => this.#further(unit),
      on: { ready: () => this.#ready(), idle: () => this.#idle(), standing: (answer) => this.#standing(answer), trouble: (error) => this.trouble(error) },
    });
    this.states = new States(this);
    this.acts = new Acts(this);
    this.input = new Input({
      stage: this.frame.stage,
      active: () => (this.dialogs.open || !this.view?.shown ? this.states.keysFor() : this.view.kind),
      bindings: (kind) => this.bindings.current[kind],
      on: {
        action: (action, event) => this.acts.act(action, event),
        arrow: (key) => this.view.painted && this.view.arrow(key),
        digit: (sign) => this.view.painted && this.view.digit(sign),
        pan: (key) => this.view.painted && this.view.pan(key),
        escape: () => Boolean(this.view?.closePeek?.()),
        grades: () => data.form.similarFrom !== null,
        other: (event) => event.key.toLowerCase() === "n" && this.#note(),
        zoomed: () => this.view?.zoom.active ?? false,
        release: (action) => this.release(action),
        pointer: (event) => this.view?.pointer(event),
      },
    });
    this.#listen();
    this.parent.append(this.frame.root);
    if (!this.#introduce()) this.states.show("loading");
    this.claim = new Claim({ api: this.api, owner: this.owner, tab: this.tab, onLost: () => this.#stand() });
    this.claim.take();
    this.sender.kick({ hope: true });
    this.otherCampaigns.look();
    if (data.open !== null) await this.#open(data.open);
    this.flow.feed();
  }

  async #shelf() {
    this.owner = ownerOf(this.data.base, this.data.expert, this.data.campaign);
    try {
      return await IndexedShelf.open(this.owner);
    } catch {
      this.unkept = true; // and the status says so while something waits
      return new MemoryShelf();
    }
  }

  #listen() {
    const listen = (target, name, action) => target.addEventListener(name, action, { signal: this.off.signal });
    const hope = () => {
      this.sender.kick({ hope: true });
      this.otherCampaigns.look();
      this.claim.hope();
      this.flow.hope();
    };
    listen(window, "online", hope);
    listen(document, "visibilitychange", () => {
      this.watch.setVisible(!document.hidden);
      if (document.hidden) this.release(null);
      else hope();
    });
    listen(window, "pagehide", () => this.#leaving());
  }

  unmount() {
    this.#leaving();
    this.off.abort();
    this.claim.stop();
    this.input.stop();
    this.sender.stop();
    this.otherCampaigns.stop();
    this.flow.stop();
    this.views.grid?.unmount();
    this.dialogs.close();
    this.frame.root.remove();
  }

  // New data after a rerun of the script; another campaign or expert is another page.
  update(data) {
    Object.assign(this.data, { guideline: data.guideline });
  }

  // The page goes away: what waits is sent once more without waiting for the answer; the outbox keeps it all the same.
  #leaving() {
    const acts = this.sender.pending(100);
    if (acts.length > 0) this.api.deliver(acts, { keepalive: true }).catch(() => {});
  }

  urls(task) {
    const { urlOf } = this;
    return { query: urlOf("large", task.query), candidate: urlOf("large", task.candidate), thumb: urlOf("thumb", task.candidate) };
  }

  // Further pictures of the products of a unit, small.
  #further(unit) {
    const [task] = unit.tasks;
    const names = unit.kind === "grid" ? [task.query] : [task.query, task.candidate];
    return names.flatMap((name) => this.about(name)?.others ?? []).map((name) => this.urlOf("thumb", name));
  }

  // What an answer of the server says of products and of the queue.
  #learn({ pictures = {}, queries }) {
    for (const [name, known] of Object.entries(pictures)) this.products.set(name, known);
    for (const name of this.products.keys()) if (this.products.size > MOST_KNOWN) this.products.delete(name);
    this.places.learn(queries);
    if (this.views.grid) this.views.grid.largest = this.places.largest;
  }

  get view() {
    return this.flow?.current ? this.views[this.flow.current.kind] : null;
  }

  // Show the current unit as soon as its pictures are there.
  #ready() {
    const unit = this.flow.current;
    if (!unit || this.standby || this.sender.signedOut || this.denied) return;
    const view = this.views[unit.kind];
    if (view.shown === unit || this.introduced) return;
    for (const other of Object.values(this.views)) if (other.shown) other.clear();
    if (view.isReady(unit)) {
      this.states.leave();
      this.begun = true;
      this.frame.showView(view.kind, view.stage, view.controls);
      if (this.strip.root.parentElement !== view.controls) view.controls.prepend(this.strip.root);
      view.show(unit, unit.values ?? NO_VALUES);
      this.dock.follow(this.about(unit.tasks[0].query)?.kind ?? "");
      this.frame.setWhere(this.places.of(unit, this.flow.queue.units, this.flow.queue.exhausted));
      return;
    }
    const needed = unit.kind === "grid" ? view.wanted(unit).slice(0, 1) : view.wanted(unit);
    if (needed.some((url) => this.pictures.isBroken(url))) {
      this.states.show("broken");
      return;
    }
    this.states.showSoon("loading");
    this.flow.prefetch(); // so that they are on their way
    Promise.all(view.wanted(unit).map((url) => this.pictures.whenReady(url))).then(() =>
      setTimeout(() => this.flow.current === unit && this.#ready()));
  }

  // One answer that "My judgements" led to: it alone, before what comes next.
  async #open(assignment) {
    const answer = await this.api.history(1, assignment).catch(() => null);
    if (!answer?.answers.length) return;
    this.#learn(answer);
    const [entry] = grouped(answer.answers.map((one) => ({ ...one, mode: "pair" })));
    this.flow.past.push(entry);
    this.flow.revisit(entry);
  }

  // N: a note on this pair, where the campaign has a place for it; Enter and Escape lead back to the keys.
  #note() {
    const field = this.view?.kind === "pair" ? this.views.pair.beside.note : null;
    if (!field) return false;
    field.onkeydown = (event) => {
      if (!["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      this.frame.root.focus({ preventScroll: true });
    };
    field.focus();
    return true;
  }

  // G: the guideline beside the pair, in a narrow window above it.
  guide() {
    const [task] = this.flow.current?.tasks ?? [];
    const parts = { texts: this.texts, urlOf: this.urlOf, names: this.data.names, category: task ? this.about(task.query)?.kind : "" };
    if (window.innerWidth < WIDE || !this.view?.shown) this.dialogs.guide(this.data.guideline, parts);
    else if (this.dock.shown) this.dock.close();
    else this.dock.open();
  }

  // Before the first pair of all: what is asked and by which examples. The pairs are loaded meanwhile.
  #introduce() {
    const { data, texts, urlOf } = this;
    const wide = window.innerWidth >= WIDE;
    if (data.welcomed && !data.begun && wide && data.guideline.examples.length > 0) this.dock.open({ keep: false });
    if (data.welcomed && (wide || data.guideline.examples.length === 0)) return false; // the invitation's page has said it
    if (data.begun || data.guideline.blocks.length + data.guideline.examples.length === 0 || this.outbox.size > 0) return false;
    this.introduced = true;
    this.frame.root.dataset.state = "first";
    this.frame.controls.replaceChildren();
    this.frame.stage.replaceChildren(firstScreen({
      guideline: data.guideline, question: data.question, texts, urlOf, names: data.names, onBegin: () => {
        this.introduced = false;
        data.begun = true;
        this.states.show("loading");
        this.#ready();
      },
    }));
    this.frame.stage.querySelector(".strong").focus();
    return true;
  }

  #painted() {
    this.watch.start(!document.hidden);
    setTimeout(() => this.remind()); // never before the pair
    this.frame.root.dispatchEvent(new CustomEvent("eds-painted", { bubbles: true, composed: true, detail: { at: performance.now() } }));
  }

  // The last answers, at the lower left; those of before this page are asked for once.
  remind() {
    this.strip.draw(this.flow.past.entries);
    if (this.recalled) return;
    this.recalled = true;
    const count = this.data.view === "grid" ? 100 : 12; // whole pages
    this.flow.recall(count).then(() => this.strip.draw(this.flow.past.entries));
  }

  #stored(acts) {
    this.#reached();
    if (acts.some((act) => typeof act.value !== "number")) this.flow.queue.reopen();
    if (this.flow.queue.needy) this.flow.feed();
    else if (!this.flow.current) this.#idle();
  }

  release(action) {
    if (action === "toggle" || action === null) this.views.grid?.lift(action === null);
    if (action === null || ["loupe", "flicker"].includes(action)) for (const view of Object.values(this.views)) view.release();
  }

  // The server has answered.
  #reached() {
    if (this.awaySince === null) return;
    this.awaySince = null;
    this.#saving();
  }

  #standing(answer) {
    const waiting = this.outbox.waiting().filter((act) => typeof act.value === "number").length;
    this.left = { left: Math.max(0, answer.left - waiting), total: answer.total };
    this.#learn(answer);
    this.closed = answer.closed;
    this.#reached();
    if (answer.standby) this.#stand();
    if (answer.guideline !== this.data.guideline.version) this.states.guidelineChanged();
    this.progress();
  }

  progress() {
    this.frame.setProgress({ ...this.left, perHour: this.speed.perHour() });
  }

  // Nothing to show: why, and what comes next.
  #idle() {
    for (const view of Object.values(this.views)) view.clear();
    if (!this.standby && !this.denied && !this.sender.signedOut) this.states.idle();
  }

  // How saving stands: this campaign, others of which something waits here, and whether the server answers at all.
  saved() {
    const [here, there] = [this.sender.state(), this.otherCampaigns.state()];
    const troubled = here.waiting > 0 || here.signedOut || here.offlineSince !== null;
    const state = together([here, troubled ? { ...there, refused: 0 } : there]); // what was left behind is no news then
    return { ...state, offlineSince: state.offlineSince ?? this.awaySince, unkept: this.unkept };
  }

  #saving() {
    const state = this.saved();
    this.frame?.setStatus(state);
    if (state.signedOut && !this.states?.is("signedOut")) this.states?.show("signedOut");
    if (!state.signedOut && this.states?.is("signedOut")) this.resume();
  }

  trouble(error) {
    if (error instanceof HttpError && error.status === 401) {
      this.sender.signedOut = true;
      this.#saving();
    } else if (error instanceof HttpError && [403, 404].includes(error.status)) {
      this.denied = true;
      this.states.show("denied");
    } else {
      this.awaySince ??= Date.now();
      this.#saving();
      if (!this.flow.current && !this.standby && !this.denied && !this.sender.signedOut) this.states.show("ahead");
    }
  }

  #stand() {
    if (this.standby) return;
    this.standby = true;
    this.claim.yield();
    this.dialogs.close();
    this.states.show("standby");
  }

  // This tab goes on, at once. What it holds may have been judged in the other, so it is asked for anew; without a
  // network it goes on with what it holds, except for what waits in this browser, and asks when the server is back.
  async takeOver() {
    this.standby = false;
    this.states.show("loading");
    const taken = this.claim.take();
    const soon = await Promise.race([taken.then(() => true), new Promise((resolve) => setTimeout(resolve, SOON, false))]);
    if (this.standby) return;
    if (soon) {
      this.resume();
      return;
    }
    taken.then(() => this.flow.renew());
    await this.outbox.load().catch(() => 0);
    this.flow.goOn(this.outbox.assignments());
  }

  resume() {
    for (const view of Object.values(this.views)) view.clear();
    this.states.show("loading");
    this.flow.restart();
  }

  #explain() {
    const { refused, reasons } = this.saved();
    if (refused > 0) return this.dialogs.tell(fill(this.texts.states.refusedTitle, { count: refused }), this.texts.states.refusedBody, ...reasons);
    this.sender.kick({ hope: true });
    return this.otherCampaigns.look();
  }
}
