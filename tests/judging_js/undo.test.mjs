import assert from "node:assert/strict";
import { test } from "node:test";

import { grouped, Past } from "../../annotator_ui/judging/static/undo.js";

const answer = (assignment, value, extra = {}) => ({ assignment, value, query: "q", mode: "pair", ...extra });
const entry = (assignment, value = 1) => ({ unit: { kind: "pair", tasks: [{ assignment }] }, values: new Map([[assignment, value]]) });

test("latest first, then what the server remembers, each once", () => {
  const past = new Past();
  past.push(entry(5));
  past.push(entry(6));
  past.extend([answer(6, 1), answer(5, 1), answer(4, 0), answer(3, null)], true);
  const order = [];
  for (let one = past.pop(); one; one = past.pop()) order.push([...one.values][0]);
  assert.deepEqual(order, [[6, 1], [5, 1], [4, 0], [3, null]]);
  assert.equal(past.end, true);
});

test("what is shown or waits just now is no past", () => {
  const past = new Past();
  assert.equal(past.extend([answer(1, 1)], true, new Set([1])), 0);
  assert.equal(past.pop(), null);
});

test("answers of a grid are one page again, in the order in which they stood", () => {
  const grid = { mode: "grid" };
  const pages = grouped([answer(3, 0, grid), answer(2, 1, grid), answer(9, 1), answer(1, 1, { ...grid, query: "p" })]);
  assert.deepEqual(pages.map(({ unit }) => [unit.kind, unit.tasks.map((task) => task.assignment)]), [["grid", [2, 3]], ["pair", [9]], ["grid", [1]]]);
  assert.deepEqual([...pages[0].values], [[3, 0], [2, 1]]);
});

test("a page of the past is no larger than a page, and what was saved at once stays together", () => {
  const grid = (assignment, seconds) => ({ assignment, value: 1, query: "q", mode: "grid", seconds });
  const pages = grouped([grid(9, 4), grid(8, 4), grid(7, 2), grid(6, 2), grid(5, 2)], 4);
  assert.deepEqual(pages.map(({ unit }) => unit.tasks.map((task) => task.assignment)), [[8, 9], [5, 6, 7]]);
  assert.deepEqual(pages[1].unit.tasks[0], { assignment: 5, query: "q", mode: "grid" }, "seconds are no part of a task");
  const one = grouped([grid(9, 4), grid(8, 4), grid(7, 2), grid(6, 2)], 4);
  assert.deepEqual(one.map(({ unit }) => unit.tasks.length), [4], "revised later, but a page of the same query");
});

test("what was flagged alone has no answer, and is past all the same", () => {
  const past = new Past();
  past.push({ unit: { kind: "pair", tasks: [{ assignment: 5 }] }, values: new Map(), flagged: true });
  assert.equal(past.last.flagged, true);
  assert.equal(past.pop().unit.tasks[0].assignment, 5);
  assert.equal(past.last, null);
});
