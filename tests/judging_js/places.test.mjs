import assert from "node:assert/strict";
import { test } from "node:test";

import { Places } from "../../annotator_ui/judging/static/places.js";

const page = { again: "again", returnedPlace: "returned", queryPlace: "query {place} of {count}", pairPlace: "pair {pair} of {pairs}", partPlace: "part {part} of {parts}", oneByOne: "{at} of {count}" };
const pair = (query, number, mode = "pair") => ({ kind: "pair", tasks: [{ query, assignment: number, mode }] });
const grid = (query, count) => ({ kind: "grid", tasks: Array.from({ length: count }, (_, number) => ({ query, assignment: number, mode: "grid" })) });
const made = (is_grid, places, count = 4) => {
  const found = new Places({ texts: { page }, size: 30, grid: is_grid });
  found.learn({ count, largest: 109, places });
  return found;
};

test("the pair of a query is counted from what is left of it", () => {
  const places = made(false, { a: [2, 24, 0] });
  const ahead = [...Array.from({ length: 21 }, (_, number) => pair("a", number)), pair("b", 99)];
  assert.equal(places.of(pair("a", 100), ahead, false).text, "query 2 of 4 · pair 3 of 24");
  assert.equal(places.of(pair("a", 100), [], true).text, "query 2 of 4 · pair 24 of 24");
  assert.equal(places.of({ ...pair("a", 1), values: new Map() }, ahead, false).text, "again");
});

test("a query of 109 comes in four parts", () => {
  const places = made(true, { a: [1, 109, 0] }, 1);
  const parts = [28, 27, 27, 27];
  const said = parts.map((count, at) => places.of(grid("a", count), parts.slice(at + 1).map((size) => grid("a", size)), true).text);
  assert.deepEqual(said, ["part 1 of 4", "part 2 of 4", "part 3 of 4", "part 4 of 4"]);
});

test("single pairs in a grid are announced and counted", () => {
  const places = made(true, {});
  const singles = [1, 2, 3].map((number) => pair("a", number));
  const first = places.of(singles[0], [singles[1], singles[2], grid("b", 9)], false);
  assert.deepEqual(first, { text: "1 of 3", strong: true });
  assert.equal(places.of(singles[1], [singles[2], grid("b", 9)], false).text, "2 of 3");
  assert.equal(places.of(grid("b", 9), [], true).strong, false);
  assert.equal(places.of(singles[2], [], true).text, "1 of 1");
});
