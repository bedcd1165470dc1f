// How fast an expert goes, how long the rest will take, and when to rest the eyes.

import { fill } from "./words.js";

const WINDOW = 30 * 60e3; // what is older says little about now
const PAUSE = 2 * 60e3; // a longer gap is a pause, not work ...
const EACH = 30e3; // ... unless so much was answered at its end: a page of 24 may well take three minutes
const TIRING = 25 * 60e3;

export class Speed {
  constructor(now = () => Date.now()) {
    this.now = now;
    this.moments = []; // [when, how many, ms of work that it took]
    this.worked = 0; // ms without a pause
    this.reminded = 0;
  }

  // So many answers at once, looked at for so long (0: not known). What was not looked at for long is a pause.
  note(count = 1, seconds = 0) {
    const at = this.now();
    const gap = this.moments.length > 0 ? at - this.moments.at(-1)[0] : Infinity;
    const longest = Math.max(PAUSE, EACH * count);
    const own = seconds * 1000 <= longest ? seconds * 1000 : 0;
    const paused = own > 0 ? gap - own > PAUSE : gap > longest;
    if (paused) this.worked = this.reminded = 0;
    const work = paused ? own : gap;
    this.worked += work;
    this.moments.push([at, count, work]);
    while (this.moments[0][0] < at - WINDOW) this.moments.shift();
  }

  // Pairs in an hour of work, null until there is enough to tell.
  perHour() {
    let work = 0;
    let pairs = 0;
    for (const [, count, took] of this.moments) {
      if (took === 0) continue;
      work += took;
      pairs += count;
    }
    return work < 20e3 || pairs < 5 ? null : (pairs / work) * 3600e3;
  }

  // Once for every stretch of work.
  restDue() {
    if (this.worked - this.reminded < TIRING) return false;
    this.reminded = this.worked;
    return true;
  }
}

// "2 h 5 min", "12 min", "under a minute".
export function spell(minutes, texts) {
  if (minutes < 1) return texts.moment;
  const whole = Math.round(minutes);
  const hours = Math.floor(whole / 60);
  if (hours === 0) return fill(texts.minutes, { minutes: whole });
  return fill(texts.hours, { hours, minutes: whole % 60 });
}
