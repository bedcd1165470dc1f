// A page of candidates: what is marked, what has the focus, what was on screen. What an untouched candidate
// means is the campaign's polarity; a mark means the opposite.

export class GridPage {
  constructor(tasks, polarity, values = new Map()) {
    this.tasks = tasks;
    this.polarity = polarity;
    this.focus = 0;
    this.seen = new Set();
    this.given = values; // what was answered before, when the page comes back
    this.states = tasks.map((task) => this.#stateOf(values, task.assignment));
    this.digits = "";
  }

  #stateOf(values, assignment) {
    if (!values.has(assignment)) return "rest";
    const value = values.get(assignment);
    if (value === null) return "unsure";
    return value === this.restValue ? "rest" : "marked";
  }

  get restValue() {
    return this.polarity === "similar" ? 1 : 0;
  }

  get marked() {
    return this.states.filter((state) => state === "marked").length;
  }

  toggle(place) {
    if (place < 0 || place >= this.tasks.length) return false;
    this.focus = place;
    this.states[place] = this.states[place] === "rest" ? "marked" : "rest";
    return true;
  }

  // Mark this one, whatever it was.
  mark(place) {
    this.focus = place;
    this.states[place] = "marked";
  }

  unsure(place = this.focus) {
    this.states[place] = this.states[place] === "unsure" ? "rest" : "unsure";
  }

  // Mark all; if all are marked, none.
  all() {
    const all = this.states.every((state) => state === "marked");
    this.states = this.states.map(() => (all ? "rest" : "marked"));
  }

  invert() {
    this.states = this.states.map((state) => (state === "unsure" ? state : state === "marked" ? "rest" : "marked"));
  }

  move(key, columns) {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    const aim = this.focus + steps[key];
    if (aim < 0 || aim >= this.tasks.length) return false;
    this.focus = aim;
    return true;
  }

  // One candidate is set aside: the others close up. What was said of it is the answer, for when it comes back.
  remove(place) {
    const { assignment } = this.tasks[place];
    const was = { state: this.states[place], given: this.given.get(assignment) };
    this.given.delete(assignment);
    this.tasks = this.tasks.filter((_, other) => other !== place);
    this.states.splice(place, 1);
    this.seen = new Set([...this.seen].filter((other) => other !== place).map((other) => (other > place ? other - 1 : other)));
    this.focus = Math.max(0, Math.min(this.focus > place ? this.focus - 1 : this.focus, this.tasks.length - 1));
    return was;
  }

  // One that was set aside takes its place again, as it was.
  insert(place, task, was) {
    this.tasks = [...this.tasks.slice(0, place), task, ...this.tasks.slice(place)];
    this.states.splice(place, 0, was.state);
    if (was.given !== undefined) this.given.set(task.assignment, was.given);
    this.seen = new Set([...this.seen].map((other) => (other >= place ? other + 1 : other)));
    this.focus = place;
  }

  // Digits name a candidate, 1 up. "wait": a second digit may follow; otherwise the place, or null.
  digit(sign) {
    const text = this.digits + sign;
    const number = Number(text);
    this.digits = "";
    if (number < 1 || number > this.tasks.length) return null;
    if (number * 10 <= this.tasks.length) {
      this.digits = text;
      return "wait";
    }
    return number - 1;
  }

  // No second digit came.
  settleDigits() {
    const number = Number(this.digits);
    this.digits = "";
    return number >= 1 ? number - 1 : null;
  }

  see(place) {
    this.seen.add(place);
  }

  unseen() {
    return this.tasks.map((_, place) => place).filter((place) => !this.seen.has(place));
  }

  // Value by assignment, of what was on screen only.
  answers() {
    const found = new Map();
    this.tasks.forEach((task, place) => {
      if (!this.seen.has(place)) return;
      const state = this.states[place];
      found.set(task.assignment, state === "unsure" ? null : state === "rest" ? this.restValue : 1 - this.restValue);
    });
    return found;
  }

  // Only what differs from what was answered before: the rest stands as it is.
  changed() {
    const found = this.answers();
    for (const [assignment, value] of this.given) {
      if (found.get(assignment) === value) found.delete(assignment);
    }
    return found;
  }
}

// How wide the query is beside pages of up to `count` candidates: what the fewest columns leave that show them nearly
// as large as can be. It holds for a whole session, so that nothing jumps from page to page.
export function queryWidth({ whole, height, count, aspect, gap = 8, beside = 14, least = 240, nearly = 0.82 }) {
  const narrow = Math.max(least, whole * 0.25);
  const room = whole - narrow - beside;
  const best = columnsFor({ width: room, height, count, gap, aspect });
  if (!best.fits) return Math.round(narrow);
  for (let columns = 1; columns < best.columns; columns += 1) {
    const rows = Math.ceil(count / columns);
    const size = Math.min((height - gap * (rows - 1)) / rows / aspect, best.size);
    const used = columns * (Math.floor(size) + gap);
    if (size >= best.size * nearly && used <= room) return Math.floor(Math.min(whole * 0.5, whole - used - beside));
  }
  const rest = whole - best.columns * (Math.floor(best.size) + gap) - beside;
  return Math.floor(Math.min(whole * 0.5, Math.max(narrow, rest)));
}

// How many columns show the pictures largest, all of them on screen where that leaves them at least `least` wide.
export function columnsFor({ width, height, count, gap = 8, aspect = 1.25, least = 84, foot = 0 }) {
  let best = null;
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const wide = (width - gap * (columns - 1)) / columns;
    const high = (height - gap * (rows - 1)) / rows - foot;
    const size = Math.min(wide, high / aspect);
    if (best === null || size > best.size + 0.5) best = { columns, size, fits: true };
  }
  if (best.size >= least) return best;
  const columns = Math.max(2, Math.min(count, Math.floor((width + gap) / (least + 24 + gap))));
  return { columns, size: (width - gap * (columns - 1)) / columns, fits: false };
}
