// What is judged now, what comes next and what was before: queue and past together, and the pictures they need.

import { HttpError } from "./api.js";
import { Past } from "./undo.js";
import { Queue } from "./queue.js";

const PAUSES = [250, 500, 1000, 2000];
const BEHIND = 3; // units of the past whose pictures are kept for undo

export class Flow {
  // on: {ready(), standing(answer), trouble(error), idle()}; wanted(unit) -> addresses of its pictures;
  // further(unit) -> those of further pictures, which may come later.
  constructor({ fetch, history, depth, low, page, size, outbox, pictures, wanted, further = () => [], on }) {
    this.queue = new Queue({ fetch, depth, low, page, skips: () => outbox.assignments() });
    this.past = new Past(size);
    Object.assign(this, { history, size, outbox, pictures, wanted, further, on, current: null, feeding: false, blocked: false, stopped: false });
  }

  // Keep the queue full; one loop at a time, patient with the network.
  async feed() {
    if (this.feeding || this.blocked || this.stopped) return;
    this.feeding = true;
    for (let failures = 0; !this.stopped && this.queue.needy; ) {
      try {
        await this.queue.fill();
        failures = 0;
        this.on.standing(this.queue.standing);
        this.prefetch();
        if (!this.current) this.advance();
      } catch (error) {
        this.on.trouble(error);
        this.blocked = error instanceof HttpError && [401, 403, 404].includes(error.status); // asking again is no use
        if (this.blocked) break;
        await new Promise((resolve) => {
          this.wake = resolve;
          setTimeout(resolve, PAUSES[Math.min(failures, PAUSES.length - 1)]);
        });
        failures += 1;
      }
    }
    this.feeding = false;
    if (!this.current && !this.stopped) this.advance();
  }

  // The network may be back: do not wait for the pause to end.
  hope() {
    this.blocked = false;
    this.wake?.();
    this.pictures.retry();
    this.feed();
  }

  // On to the next unit; `on.ready` shows it, or `on.idle` says that there is none.
  advance() {
    if (this.current) this.queue.release(this.current);
    this.current = this.queue.take();
    if (this.current) {
      this.queue.hold(this.current);
      this.on.ready(this.current);
    } else {
      this.on.idle();
    }
    setTimeout(() => this.#ahead()); // first the pair, then what comes behind it
  }

  #ahead() {
    if (this.stopped) return;
    this.prefetch();
    if (this.queue.needy) this.feed();
  }

  // The unit is answered, or set aside with a flag: it belongs to the past now.
  done(unit, values, { flag = null } = {}) {
    this.past.push({ unit: { kind: unit.kind, tasks: unit.tasks }, values, flag });
    this.queue.drop(values.keys());
    if (unit.tasks.some((task) => (values.get(task.assignment) ?? null) === null)) this.queue.reopen(); // it is still asked
    this.advance();
  }

  // Back to what was judged before; false if there is nothing.
  async back() {
    if (this.past.depth === 0 && !this.past.end) await this.#remember();
    const entry = this.past.pop();
    if (!entry) return false;
    this.#reopen(entry);
    return true;
  }

  // Back to one answer of the past, wherever it stands; what was under way comes next again.
  revisit(entry) {
    if (!this.past.take(entry)) return false;
    this.#reopen(entry);
    return true;
  }

  #reopen(entry) {
    if (this.current) this.queue.putBack(this.current);
    this.queue.drop(entry.unit.tasks.map((task) => task.assignment));
    this.current = { ...entry.unit, values: entry.values };
    this.queue.hold(this.current);
    this.on.ready(this.current);
    this.prefetch();
  }

  // What the server remembers, so that the last answers can be shown; the network may be away.
  async recall(count) {
    if (this.past.end || this.past.asked > 0) return;
    await this.#remember(count).catch(() => {});
  }

  async #remember(count = this.past.asked + 100) {
    const answers = await this.history(count);
    const open = new Set(this.queue.units.flatMap((unit) => unit.tasks.map((task) => task.assignment)));
    for (const task of this.current?.tasks ?? []) open.add(task.assignment);
    this.past.extend(answers, answers.length < count, open);
    if (this.past.depth === 0 && !this.past.end) await this.#remember();
  }

  // This cannot be shown: leave it for a later visit.
  leave() {
    this.current = null;
    this.advance(); // its tasks stay held, so that the server does not tell them again
  }

  restart() {
    this.blocked = false;
    this.queue.forget();
    this.current = null;
    this.past = new Past(this.size);
    this.feed();
  }

  // Ask anew for what comes behind the unit that is shown.
  renew() {
    this.blocked = false;
    this.queue.forget();
    if (this.current) this.queue.hold(this.current);
    this.feed();
  }

  // Go on with what is held, without these, which were judged elsewhere.
  goOn(judged) {
    this.queue.drop(judged);
    if (this.current && !this.current.tasks.some((task) => judged.includes(task.assignment))) this.on.ready(this.current);
    else this.leave();
  }

  prefetch() {
    const next = this.queue.upcoming();
    const before = this.past.entries.slice(-BEHIND).map(({ unit, from }) => (from ? { ...unit, kind: "grid" } : unit));
    const units = [...(this.current ? [this.current] : []), ...next, ...before];
    this.pictures.want([...new Set([...units.flatMap(this.wanted), ...units.slice(0, 4).flatMap(this.further)])], units.slice(0, 1).flatMap(this.wanted));
    this.pictures.refresh(next.slice(0, 2).flatMap(this.wanted));
  }

  stop() {
    this.stopped = true;
    this.wake?.();
    this.pictures.want([]);
  }
}
