// Where one is: "Query 2 of 40 · pair 3 of 24", "part 2 of 4", "Now one by one: 1 of 7".

import { fill } from "./words.js";

export class Places {
  // size: candidates of a grid page at most; grid: whether the campaign shows pages.
  constructor({ texts, size, grid }) {
    Object.assign(this, { texts, size, grid, queries: new Map(), count: 0, largest: 0, series: null });
  }

  // What the server said: {count, largest, places: {query: [place, pairs, done]}}.
  learn(answer) {
    if (!answer) return;
    this.count = answer.count;
    this.largest = answer.largest;
    for (const [query, place] of Object.entries(answer.places)) {
      this.queries.delete(query); // so that the oldest is forgotten first
      this.queries.set(query, place);
    }
    for (const query of this.queries.keys()) if (this.queries.size > 500) this.queries.delete(query);
  }

  // The words for this unit; `ahead` are the units behind it, `exhausted` whether there are no others.
  of(unit, ahead, exhausted) {
    const { page } = this.texts;
    const [task] = unit.tasks;
    const single = this.grid && unit.kind === "pair" && task.mode !== "grid";
    if (!single) this.series = null;
    if (unit.values) return { text: page.again, strong: false };
    if (task.returned) return { text: page.returnedPlace, strong: false };
    if (single) return { text: this.#single(ahead), strong: true };
    const known = this.queries.get(task.query);
    if (!known) return { text: "", strong: false };
    const [place, pairs, done] = known;
    const same = ahead.filter((other) => other.tasks[0].query === task.query && !other.tasks[0].returned);
    const left = same.reduce((sum, other) => sum + other.tasks.length, unit.tasks.length);
    const whole = exhausted || same.length < ahead.length;
    const words = this.count > 1 ? [fill(page.queryPlace, { place, count: this.count })] : [];
    if (unit.kind === "grid") {
      const parts = Math.ceil(pairs / this.size);
      const part = whole ? parts - Math.ceil(left / this.size) + 1 : Math.floor(done / this.size) + 1;
      if (parts > 1) words.push(fill(page.partPlace, { part: Math.max(1, part), parts }));
    } else if (whole || done > 0) {
      words.push(fill(page.pairPlace, { pair: Math.max(1, whole ? pairs - left + 1 : done + 1), pairs }));
    }
    return { text: words.join(" · "), strong: false };
  }

  // Pairs that a grid asks one by one in between.
  #single(ahead) {
    const next = ahead.findIndex((other) => other.kind === "grid");
    const behind = next < 0 ? ahead.length : next;
    this.series = { at: (this.series?.at ?? 0) + 1, all: Math.max(this.series?.all ?? 0, (this.series?.at ?? 0) + 1 + behind) };
    return fill(this.texts.page.oneByOne, { at: this.series.at, count: this.series.all });
  }
}
