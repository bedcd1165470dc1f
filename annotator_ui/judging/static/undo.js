// What was judged, latest last, without limit: after what this page did come the answers the server remembers.

export class Past {
  constructor() {
    this.entries = []; // {unit, values: Map assignment -> 1, 0 or null}
    this.asked = 0; // answers of the server that were looked at
    this.end = false;
  }

  get depth() {
    return this.entries.length;
  }

  push(entry) {
    this.entries.push(entry);
  }

  pop() {
    return this.entries.pop() ?? null;
  }

  knows(assignment) {
    return this.entries.some((entry) => entry.values.has(assignment));
  }

  // Put what the server remembers (latest first) before all else; how many entries were new.
  extend(answers, exhausted, besides = new Set()) {
    const fresh = answers.filter((one) => !this.knows(one.assignment) && !besides.has(one.assignment));
    this.asked = answers.length;
    this.end = exhausted;
    const units = grouped(fresh);
    this.entries.unshift(...units.reverse());
    return units.length;
  }
}

// Answers as they were given: those of a grid that stand together are one page again.
export function grouped(answers) {
  const entries = [];
  for (const { value, ...task } of answers) {
    const last = entries.at(-1);
    const kind = task.mode === "grid" ? "grid" : "pair";
    if (kind === "grid" && last?.unit.kind === "grid" && last.unit.tasks[0].query === task.query) {
      last.unit.tasks.push(task);
      last.values.set(task.assignment, value);
    } else {
      entries.push({ unit: { kind, tasks: [task] }, values: new Map([[task.assignment, value]]) });
    }
  }
  for (const { unit } of entries) unit.tasks.reverse(); // the server tells the latest first
  return entries;
}
