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
