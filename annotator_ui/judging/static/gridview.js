// A page of a grid: the query large, its candidates beside it, marked where they are the exception.

import { afterPaint, heldButton, keyButton, make, write } from "./dom.js";
import { columnsFor, GridPage, queryWidth } from "./grid.js";
import { Loupe } from "./loupe.js";
import { Peek } from "./peek.js";
import { Side } from "./sides.js";
import { fill } from "./words.js";
import { Zoom } from "./zoom.js";

const SECOND_DIGIT = 700; // ms to wait for it
const ROOM = 28; // px beside everything
const GAP = 14;
const EDGE = 8; // around the tiles, so that a mark at the edge is whole
const HOLD = 220; // ms after which a press is no mark any more but a closer look
const TURN = 450; // ms that each of two pictures is shown by turns
const SEEN = 0.6; // of a candidate's area that must be on screen

export class GridView {
  constructor({ texts, pictures, urls, urlOf, about, names, signs, polarity, size, onAction, onPainted }) {
    Object.assign(this, { texts, pictures, urls, urlOf, signs, polarity, onAction, onPainted, kind: "grid", turn: 0, largest: 0, size });
    this.side = new Side("query", names.query, { texts, about, urlOf });
    this.query = this.side.box;
    this.tiles = make("div", { class: "tiles", role: "group", "aria-label": texts.grid.columns });
    this.below = make("div", { class: "below", hidden: true });
    this.scroller = make("div", { class: "scroller" }, this.tiles);
    this.rule = make("p", { class: "rule", text: texts.grid[polarity] }, make("span", { class: "hint", text: texts.grid.last }));
    this.peek = new Peek({
      texts, about, urlOf, name: names.candidate, onStep: (key) => this.arrow(key), onClose: () => this.closePeek(),
      onMark: () => {
        this.page.toggle(this.page.focus);
        this.#draw();
      },
    });
    this.stage = make("div", { class: "grid" }, this.side.figure, make("div", { class: "side" }, this.rule, this.scroller, this.below, this.peek.figure));
    const full = (image) => image.dataset.full ?? null;
    this.zoom = new Zoom(this.stage, () => (this.peek.shown ? [this.query, this.peek.box] : [this.query]), { fullOf: full });
    this.#pressing();
    this.count = make("span", { class: "count" });
    this.controls = make("div", { class: "answers" });
    this.loupe = new Loupe(() => [this.query, this.peek.shown ? this.peek.box : this.tiles.children[this.page?.focus ?? 0]?.querySelector(".box")].filter(Boolean), { fullOf: full });
    this.relabel();
    this.watcher = new IntersectionObserver((entries) => this.#watch(entries), { root: null, threshold: [SEEN] });
    this.resizer = new ResizeObserver(() => this.#arrange());
    this.resizer.observe(this.stage);
    this.clear();
  }

  relabel() {
    const button = (action, tone) => keyButton({ action, text: this.texts.actions[action], key: this.signs(action), tone, onPress: () => this.onAction(action) });
    const held = (action) => heldButton({ action, text: this.texts.actions[action], key: this.signs(action), onAction: this.onAction });
    this.controls.replaceChildren(
      make("div", { class: "main" }, button("all", "middle"), button("invert", "middle"), this.count, button("save", "answer")),
      make("div", { class: "more" }, button("undo", "small"), button("unsure", "small"), button("flag", "small"), button("peek", "small"), held("flicker")));
  }

  // Mouse and finger: a press that is held on a candidate shows it large; a short one marks it.
  #pressing() {
    const place = (event) => Number(event.target.closest?.(".tile")?.dataset.place ?? -1);
    this.tiles.addEventListener("pointerdown", (event) => {
      if (place(event) < 0 || event.button !== 0) return;
      this.#lifted();
      this.#begin(place(event));
    });
    this.off = new AbortController(); // the large picture lies below the pointer by then: not the tiles' own events
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, () => this.#lifted(), { signal: this.off.signal });
    this.tiles.addEventListener("pointermove", (event) => (this.hovered = event.pointerType === "mouse" ? place(event) : -1), { passive: true });
    this.tiles.addEventListener("contextmenu", (event) => event.preventDefault()); // a finger that is held
  }

  #begin(place) {
    clearTimeout(this.holding?.timer);
    this.holding = { place, timer: setTimeout(() => this.#closer(place), HOLD) };
  }

  #closer(place) {
    if (this.holding) this.holding.long = true;
    this.page.focus = place;
    this.peek.show(this.page.tasks[place], this.pictures, this.urls);
    this.zoom.reset();
    this.#draw(); // says the number of what is shown by now
  }

  // A finger or the mouse is lifted: the closer look ends, and was no mark.
  #lifted() {
    const { holding } = this;
    if (!holding || holding.key) return;
    clearTimeout(holding.timer);
    this.holding = null;
    if (!holding.long) return;
    this.wasLong = true; // the click that follows
    setTimeout(() => (this.wasLong = false));
    this.closePeek();
  }

  // The key that marks is lifted: a mark, unless it was held for a closer look.
  lift(cancelled = false) {
    const { holding } = this;
    if (!holding?.key) return;
    clearTimeout(holding.timer);
    this.holding = null;
    if (holding.long) this.closePeek();
    else if (!cancelled && this.shown) {
      this.page.toggle(holding.place);
      this.#draw();
    }
  }

  // The closer look ends; whether there was one.
  closePeek() {
    if (!this.peek.shown) return false;
    this.peek.hide();
    this.zoom.reset();
    return true;
  }

  // Shift with an arrow moves what is zoomed.
  pan(key) {
    this.zoom.arrow(key);
  }

  clear() {
    this.turn += 1;
    this.painted = false;
    this.shown = null;
    clearTimeout(this.holding?.timer);
    this.holding = null;
    this.hovered = -1;
    this.peek.hide();
    this.watcher.disconnect();
    clearTimeout(this.digitTimer);
  }

  wanted(unit) {
    return [this.urls(unit.tasks[0]).query, ...unit.tasks.map((task) => this.urls(task).thumb)];
  }

  // A broken candidate must not hold up the page; a broken query must.
  isReady(unit) {
    return this.wanted(unit).every((url, place) => this.pictures.ready(url) !== null || (place > 0 && this.pictures.isBroken(url)));
  }

  show(unit, values) {
    this.clear();
    const turn = this.turn;
    this.shown = unit;
    this.page = new GridPage(unit.tasks, this.polarity, new Map(values));
    this.release();
    const query = this.pictures.ready(this.urls(unit.tasks[0]).query);
    this.side.show(query, unit.tasks[0].query);
    this.zoom.reset();
    this.tiles.replaceChildren(...unit.tasks.map((task, place) => this.#tile(task, place)));
    this.aspect = aspectOf([...this.tiles.querySelectorAll("img")]);
    this.scroller.scrollTop = 0;
    this.stage.dataset.assignment = unit.tasks.map((task) => task.assignment).join(",");
    this.#arrange();
    this.#draw();
    afterPaint(() => {
      if (turn !== this.turn) return;
      this.painted = query.complete && query.naturalWidth > 0;
      this.paintedAt = performance.now();
      for (const tile of this.tiles.children) this.watcher.observe(tile);
      if (this.painted) this.onPainted(unit);
    });
  }

  #tile(task, place) {
    const image = this.pictures.ready(this.urls(task).thumb);
    const box = make("span", { class: "box" });
    if (image) {
      image.alt = "";
      image.draggable = false;
      image.dataset.full = this.urlOf("full", task.candidate);
      box.append(image);
    } else {
      box.append(make("span", { class: "lost", text: this.texts.page.broken }));
    }
    return make("button", { type: "button", class: image ? "tile" : "tile broken", "data-place": place, tabindex: "-1", onclick: (event) => this.#pressed(Number(event.currentTarget.dataset.place), event.shiftKey) },
      make("span", { class: "number", text: place + 1, "aria-hidden": "true" }), box, make("span", { class: "mark", "aria-hidden": "true" }));
  }

  // On screen, with its picture: only then a candidate counts.
  #watch(entries) {
    for (const entry of entries) {
      if (!entry.isIntersecting || document.hidden) continue;
      const place = Number(entry.target.dataset.place);
      if (!entry.target.classList.contains("broken")) this.page.see(place);
    }
    this.#tellBelow();
  }

  #tellBelow() {
    const hidden = this.hiddenPlaces().length;
    this.below.hidden = hidden === 0;
    if (hidden > 0) write(this.below, fill(this.texts.grid.below, { count: hidden }));
  }

  // Those with a picture that were not on screen yet.
  hiddenPlaces() {
    return this.page.unseen().filter((place) => !this.tiles.children[place].classList.contains("broken"));
  }

  scrollToHidden() {
    const [first] = this.hiddenPlaces();
    this.tiles.children[first].scrollIntoView({ block: "start" });
    this.page.focus = first;
    this.#draw();
  }

  #pressed(place, last) {
    if (this.wasLong) return undefined;
    if (last) return this.markLast(place);
    this.settle();
    this.page.toggle(place);
    return this.#draw();
  }

  // The last exception of a page: mark it and save, in one act.
  markLast(place = null) {
    this.settle();
    this.page.mark(place ?? this.page.focus);
    this.#draw();
    this.onAction("save");
  }

  press(action) {
    this.settle();
    if (action === "toggle") {
      const place = this.hovered >= 0 && !this.peek.shown ? this.hovered : this.page.focus;
      this.#begin(this.peek.shown ? this.page.focus : place);
      this.holding.key = true;
      this.holding.place = this.page.focus; // a mark is of the candidate with the focus, a look of the one below the mouse
      if (this.peek.shown) clearTimeout(this.holding.timer); // it is large already
    } else if (action === "peek") {
      if (!this.closePeek()) this.#closer(this.page.focus);
    } else if (action.startsWith("zoom")) this.zoom.key(action);
    else if (action === "all") this.page.all();
    else if (action === "invert") this.page.invert();
    else if (action === "unsure") this.page.unsure();
    else if (action === "loupe") this.loupe.hold();
    else if (action === "flicker") this.#flicker();
    this.#draw();
  }

  arrow(key) {
    this.settle();
    this.hovered = -1;
    this.page.move(key, this.peek.shown && !["ArrowLeft", "ArrowRight"].includes(key) ? 1 : this.columns);
    this.#draw();
    if (this.peek.shown) {
      this.zoom.reset();
      this.peek.show(this.page.tasks[this.page.focus], this.pictures, this.urls);
      return;
    }
    this.tiles.children[this.page.focus].focus();
  }

  digit(sign) {
    clearTimeout(this.digitTimer);
    const place = this.page.digit(sign);
    if (place === "wait") this.digitTimer = setTimeout(() => this.settle(), SECOND_DIGIT);
    else if (place !== null) this.page.toggle(place);
    this.#draw();
  }

  // A lone first digit counts when anything else is pressed, or after a moment.
  settle() {
    clearTimeout(this.digitTimer);
    const place = this.page.settleDigits();
    if (place !== null) this.page.toggle(place);
    this.#draw();
  }

  // A candidate was flagged; what it was marked as is the answer.
  remove(place) {
    this.tiles.children[place].remove();
    const was = this.page.remove(place);
    this.#renumber();
    return was;
  }

  // A candidate that was flagged takes its place again: it must be seen again, too.
  putBack(place, task, was) {
    const tile = this.#tile(task, place);
    this.tiles.insertBefore(tile, this.tiles.children[place] ?? null);
    this.page.insert(place, task, was);
    this.watcher.observe(tile);
    this.#renumber();
  }

  #renumber() {
    for (const [number, tile] of [...this.tiles.children].entries()) {
      tile.dataset.place = number;
      tile.dataset.state = "";
      write(tile.querySelector(".number"), String(number + 1));
    }
    this.#draw();
    this.#tellBelow();
  }

  // The candidate with the focus and the query by turns in the query's place.
  #flicker() {
    const image = this.tiles.children[this.page.focus]?.querySelector("img");
    if (this.flickering || !image) return;
    this.query.append(make("img", { class: "other", src: image.getAttribute("src"), alt: "" }));
    const turn = () => this.stage.classList.toggle("swapped");
    turn();
    this.flickering = setInterval(turn, TURN);
  }

  pointer(event) {
    this.loupe.pointer(event);
  }

  release() {
    if (this.loupe.release()) this.zoom.draw();
    clearInterval(this.flickering);
    this.flickering = null;
    this.stage.classList.remove("swapped");
    this.query.querySelector(".other")?.remove();
  }

  answers() {
    return this.page.changed();
  }

  unmount() {
    this.clear();
    this.off.abort();
    this.resizer.disconnect();
  }

  #arrange() {
    if (!this.shown) return;
    const beside = getComputedStyle(this.stage).gridTemplateColumns.split(" ").length > 1; // on a phone the query stands above
    const whole = this.stage.clientWidth - ROOM;
    const height = this.scroller.clientHeight - 8;
    const count = Math.max(this.shown.tasks.length, Math.min(this.largest, this.size));
    if (whole < 1 || height < 1) return;
    if (beside && (this.split?.whole !== whole || Math.abs(this.split.height - height) > 24 || this.split.count < count)) {
      this.split = { whole, height, count, query: queryWidth({ whole, height, count, aspect: this.aspect }) };
      this.stage.style.setProperty("--query", `${this.split.query}px`);
    }
    const width = beside ? whole - this.split.query - GAP - 2 * EDGE : this.scroller.clientWidth - 2 * EDGE;
    const { columns, size, fits } = columnsFor({ width, height, count: this.shown.tasks.length, aspect: this.aspect });
    this.columns = columns;
    this.tiles.style.setProperty("--aspect", this.aspect);
    this.tiles.style.setProperty("--columns", columns);
    this.tiles.style.setProperty("--size", `${Math.floor(size)}px`);
    this.tiles.classList.toggle("fits", fits);
  }

  #draw() {
    const { actions, page, grid } = this.texts;
    const words = { rest: this.page.restValue ? actions.similar : actions.different, marked: this.page.restValue ? actions.different : actions.similar, unsure: actions.unsure };
    const signs = { rest: "", marked: this.page.restValue ? "✕" : "✓", unsure: "?" };
    const pressed = { rest: "false", marked: "true", unsure: "mixed" };
    for (const [place, tile] of [...this.tiles.children].entries()) {
      const state = this.page.states[place];
      const focus = place === this.page.focus;
      if (tile.dataset.state !== state) {
        tile.dataset.state = state;
        tile.setAttribute("aria-pressed", pressed[state]);
        const name = fill(page.candidateNumber, { number: place + 1 });
        tile.setAttribute("aria-label", fill(grid.state, { name, answer: words[state] }));
        write(tile.lastChild, state === "rest" ? "" : `${signs[state]} ${words[state]}`);
      }
      if (tile.classList.contains("focus") !== focus) {
        tile.classList.toggle("focus", focus);
        tile.tabIndex = focus ? 0 : -1;
      }
    }
    const { focus, states } = this.page;
    if (this.peek.shown) this.peek.say(fill(page.candidateNumber, { number: focus + 1 }), words[states[focus]], signs[states[focus]], states[focus]);
    write(this.count, fill(grid.marks, { count: this.page.marked, total: this.page.tasks.length }));
  }
}

// Height by width of most pictures, within reason, so that the tiles waste little room.
function aspectOf(images) {
  const found = images.map((image) => image.naturalHeight / image.naturalWidth).sort((a, b) => a - b);
  return Math.min(1.5, Math.max(0.8, found[Math.floor(found.length / 2)] ?? 1.25));
}
