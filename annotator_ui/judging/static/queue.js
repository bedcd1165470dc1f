// What comes next: units (a pair, or a page of a grid) that the page holds, fetched ahead and never twice.

export class Queue {
  // fetch(count, skip) -> {units, left, closed, ...}; skips(): assignments that wait in the outbox.
  // `depth` and `low` count pairs; a page of a grid counts as `page` of them, and `count` is in pages then.
  constructor({ fetch, depth, low, page = 1, skips = () => [] }) {
    this.fetch = fetch;
    this.depth = depth;
    this.low = low;
    this.page = page;
    this.skips = skips;
    this.units = [];
    this.aside = new Set(); // could not be shown, or are looked at just now
    this.fetching = null;
    this.exhausted = false;
    this.reopened = 0; // how often
    this.standing = null;
  }

  get length() {
    return this.units.length;
  }

  // Every assignment that the server need not tell again.
  held() {
    const held = new Set(this.aside);
    for (const unit of this.units) for (const task of unit.tasks) held.add(task.assignment);
    for (const assignment of this.skips()) held.add(assignment);
    return held;
  }

  // The next units, as many as are kept ready.
  upcoming() {
    let weight = 0;
    return this.units.filter((unit) => {
      const wanted = weight < this.low;
      weight += this.#weight(unit);
      return wanted;
    });
  }

  #weight(unit) {
    return unit.kind === "grid" ? this.page : 1;
  }

  get weight() {
    return this.units.reduce((sum, unit) => sum + this.#weight(unit), 0);
  }

  take() {
    return this.units.shift() ?? null;
  }

  putBack(unit) {
    this.units.unshift(unit);
    this.release(unit);
  }

  hold(unit) {
    for (const task of unit.tasks) this.aside.add(task.assignment);
  }

  release(unit) {
    for (const task of unit.tasks) this.aside.delete(task.assignment);
  }

  // Forget tasks that were judged otherwise meanwhile.
  drop(assignments) {
    const gone = new Set(assignments);
    this.units = this.units
      .map((unit) => ({ ...unit, tasks: unit.tasks.filter((task) => !gone.has(task.assignment)) }))
      .filter((unit) => unit.tasks.length > 0);
  }

  // Something unsure or flagged is stored, or the lead may have added pairs: ask again.
  reopen() {
    this.reopened += 1;
    this.exhausted = false;
  }

  // Another tab went on meanwhile: what is held may be judged already.
  forget() {
    this.units = [];
    this.aside.clear();
    this.reopen();
  }

  get needy() {
    return !this.exhausted && this.weight < this.low;
  }

  // Fetch what is lacking; one request at a time. Resolves to whether anything came.
  async fill() {
    if (this.fetching) return this.fetching;
    const count = Math.ceil((this.depth - this.weight) / this.page);
    if (count < 1) return false;
    this.fetching = this.#fetch(count).finally(() => {
      this.fetching = null;
    });
    return this.fetching;
  }

  async #fetch(count) {
    const asked = this.held();
    const { reopened } = this;
    const answer = await this.fetch(count, [...asked]);
    const held = this.held(); // what was taken meanwhile is in `asked` already
    const fresh = answer.units
      .map((unit) => ({ ...unit, tasks: unit.tasks.filter((t) => !held.has(t.assignment) && !asked.has(t.assignment)) }))
      .filter((unit) => unit.tasks.length > 0);
    this.units.push(...fresh);
    this.standing = answer;
    this.exhausted = answer.units.length < count && reopened === this.reopened; // until something comes back, see reopen
    return fresh.length > 0;
  }
}
