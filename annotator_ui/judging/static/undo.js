// What was judged, latest last, without limit: after what this page did come the answers the server remembers.

export class Past {
  // size: how many candidates a page of a grid has at most.
  constructor(size = Infinity) {
    this.size = size;
    this.entries = []; // {unit, values: Map assignment -> 1, 0 or null; flag: {token, assignment} or null}
    this.asked = 0; // answers of the server that were looked at
    this.end = false;
  }

  get depth() {
    return this.entries.length;
  }

  get last() {
    return this.entries.at(-1) ?? null;
  }

  push(entry) {
    this.entries.push(entry);
  }

  pop() {
    return this.entries.pop() ?? null;
  }

  // Take one entry out; whether it was there.
  take(entry) {
    const place = this.entries.indexOf(entry);
    if (place >= 0) this.entries.splice(place, 1);
    return place >= 0;
  }

  knows(assignment) {
    return this.entries.some((entry) => entry.values.has(assignment));
  }

  // Put what the server remembers (latest first) before all else; how many entries were new.
  extend(answers, exhausted, besides = new Set()) {
    const fresh = answers.filter((one) => !this.knows(one.assignment) && !besides.has(one.assignment));
    this.asked = answers.length;
    this.end = exhausted;
    const units = grouped(fresh, this.size);
    this.entries.unshift(...units.reverse());
    return units.length;
  }
}

// Answers as they were given: those of a grid that stand together are one page again, of at most `size` candidates.
export function grouped(answers, size = Infinity) {
  const entries = [];
  for (const part of parts(answers, size)) {
    const last = entries.at(-1);
    if (last && isPageOf(part, last.unit.tasks[0].query) && last.unit.kind === "grid" && last.unit.tasks.length + part.length <= size) {
      last.unit.tasks.push(...part.map(taskOf));
      for (const { assignment, value } of part) last.values.set(assignment, value);
    } else {
      const kind = part[0].mode === "grid" ? "grid" : "pair";
      entries.push({ unit: { kind, tasks: part.map(taskOf) }, values: new Map(part.map(({ assignment, value }) => [assignment, value])) });
    }
  }
  for (const { unit } of entries) unit.tasks.reverse(); // the server tells the latest first
  return entries;
}

function isPageOf([{ mode, query }], wanted) {
  return mode === "grid" && query === wanted;
}

function taskOf({ value, seconds, ...task }) {
  return task;
}

// What was saved at once: the answers of one page took the same seconds; what was revised later took others.
function parts(answers, size) {
  const found = [];
  for (const answer of answers) {
    const last = found.at(-1);
    const goesOn = last && isPageOf([answer], last[0].query) && last[0].mode === "grid" && last[0].seconds === answer.seconds;
    if (goesOn && last.length < size) last.push(answer);
    else found.push([answer]);
  }
  return found;
}
