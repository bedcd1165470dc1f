// A page of a grid: the query large, its candidates beside it, marked where they are the exception.

import { afterPaint, heldButton, keyButton, make, write } from "./dom.js";
import { columnsFor, GridPage } from "./grid.js";
import { Loupe } from "./loupe.js";
import { fill } from "./status.js";

const SECOND_DIGIT = 700; // ms to wait for it
const ROOM = 28; // px beside everything
const GAP = 14;
const LEAST_QUERY = 240;
const TURN = 450; // ms that each of two pictures is shown by turns
const SEEN = 0.6; // of a candidate's area that must be on screen

export class GridView {
  constructor({ texts, pictures, urls, signs, polarity, onAction, onPainted }) {
    Object.assign(this, { texts, pictures, urls, signs, polarity, onAction, onPainted, kind: "grid", turn: 0 });
    this.query = make("div", { class: "box" });
    this.tiles = make("div", { class: "tiles", role: "group", "aria-label": texts.grid.columns });
    this.below = make("div", { class: "below", hidden: true });
    this.scroller = make("div", { class: "scroller" }, this.tiles);
    this.rule = make("p", { class: "rule", text: texts.grid[polarity] }, make("span", { class: "hint", text: texts.grid.last }));
    this.stage = make("div", { class: "grid" },
      make("figure", { class: "query" }, make("figcaption", { text: texts.page.query }), this.query),
      make("div", { class: "side" }, this.rule, this.scroller, this.below));
    this.count = make("span", { class: "count" });
    this.controls = make("div", { class: "answers" });
    this.loupe = new Loupe(() => [this.query, this.tiles.children[this.page?.focus ?? 0]?.querySelector(".box")].filter(Boolean), { fullOf: (image) => image.dataset.full ?? null });
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
      make("div", { class: "more" }, button("undo", "small"), button("unsure", "small"), button("flag", "small"), held("loupe"), held("flicker")));
  }

  clear() {
    this.turn += 1;
    this.painted = false;
    this.shown = null;
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
    query.alt = this.texts.page.query;
    query.dataset.full = this.urls(unit.tasks[0]).full.query;
    if (this.query.firstChild !== query) this.query.replaceChildren(query);
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
      image.dataset.full = this.urls(task).full.candidate;
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
    if (action === "toggle") this.page.toggle(this.page.focus);
    else if (action === "all") this.page.all();
    else if (action === "invert") this.page.invert();
    else if (action === "unsure") this.page.unsure();
    else if (action === "loupe") this.loupe.hold();
    else if (action === "flicker") this.#flicker();
    this.#draw();
  }

  arrow(key) {
    this.settle();
    this.page.move(key, this.columns);
    this.#draw();
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
    this.loupe.release();
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
    this.resizer.disconnect();
  }

  #arrange() {
    if (!this.shown) return;
    const beside = getComputedStyle(this.stage).gridTemplateColumns.split(" ").length > 1; // on a phone the query stands above
    const whole = this.stage.clientWidth - ROOM;
    const width = beside ? whole - Math.max(LEAST_QUERY, whole * 0.25) - GAP : this.scroller.clientWidth - 8;
    const height = this.scroller.clientHeight - 8;
    if (width < 1 || height < 1) return;
    const { columns, size, fits } = columnsFor({ width, height, count: this.shown.tasks.length, aspect: this.aspect });
    const used = columns * (Math.floor(size) + 8) + 2 * GAP;
    const query = Math.floor(Math.min(whole * 0.5, whole - used));
    this.stage.style.setProperty("--query", `${query}px`); // the query gets the room that is left
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
    write(this.count, fill(grid.marks, { count: this.page.marked, total: this.page.tasks.length }));
  }
}

// Height by width of most pictures, within reason, so that the tiles waste little room.
function aspectOf(images) {
  const found = images.map((image) => image.naturalHeight / image.naturalWidth).sort((a, b) => a - b);
  return Math.min(1.5, Math.max(0.8, found[Math.floor(found.length / 2)] ?? 1.25));
}
