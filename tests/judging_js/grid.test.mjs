import assert from "node:assert/strict";
import { test } from "node:test";

import { columnsFor, GridPage, queryWidth } from "../../annotator_ui/judging/static/grid.js";

const tasks = (count) => Array.from({ length: count }, (_, place) => ({ assignment: 100 + place }));
const seenPage = (count, polarity, values) => {
  const page = new GridPage(tasks(count), polarity, values);
  page.tasks.forEach((_, place) => page.see(place));
  return page;
};

test("untouched means what the polarity says, a mark the opposite", () => {
  for (const [polarity, rest] of [["similar", 1], ["different", 0]]) {
    const page = seenPage(3, polarity);
    page.toggle(1);
    page.unsure(2);
    assert.deepEqual([...page.answers()], [[100, rest], [101, 1 - rest], [102, null]]);
  }
});

test("only what was on screen counts", () => {
  const page = new GridPage(tasks(3), "similar");
  page.see(1);
  page.all();
  assert.deepEqual([...page.answers()], [[101, 0]]);
  assert.deepEqual(page.unseen(), [0, 2]);
});

test("all, and none again; invert leaves the unsure alone", () => {
  const page = seenPage(3, "similar");
  page.all();
  assert.equal(page.marked, 3);
  page.all();
  assert.equal(page.marked, 0);
  page.toggle(0);
  page.unsure(1);
  page.invert();
  assert.deepEqual(page.states, ["rest", "unsure", "marked"]);
});

test("marking the last one never takes a mark away", () => {
  const page = seenPage(3, "different");
  page.mark(1);
  page.unsure(2);
  page.mark(2);
  page.mark(1);
  assert.deepEqual([...page.answers()], [[100, 0], [101, 1], [102, 1]]);
  assert.equal(page.focus, 1);
});

test("numbers name candidates; a second digit is waited for only where it can come", () => {
  const page = seenPage(24, "similar");
  assert.equal(page.digit("3"), 2);
  assert.equal(page.digit("1"), "wait");
  assert.equal(page.digit("2"), 11);
  assert.equal(page.digit("2"), "wait");
  assert.equal(page.settleDigits(), 1);
  assert.equal(page.digit("2"), "wait");
  assert.equal(page.digit("9"), null, "there is no 29");
  assert.equal(page.digit("0"), null);
  assert.equal(page.settleDigits(), null);
  assert.equal(seenPage(9, "similar").digit("1"), 0);
});

test("arrows move within the page", () => {
  const page = seenPage(7, "similar");
  assert.equal(page.move("ArrowLeft", 3), false);
  page.move("ArrowDown", 3);
  page.move("ArrowRight", 3);
  assert.equal(page.focus, 4);
  page.move("ArrowDown", 3);
  assert.equal(page.focus, 4, "nothing below");
});

test("a page that comes back shows what was answered, and only changes are answers", () => {
  const before = new Map([[100, 1], [101, 0], [102, null]]);
  const page = seenPage(3, "similar", before);
  assert.deepEqual(page.states, ["rest", "marked", "unsure"]);
  assert.equal(page.changed().size, 0);
  page.toggle(1);
  assert.deepEqual([...page.changed()], [[101, 1]]);
});

test("taking one out closes the gap", () => {
  const page = seenPage(4, "similar");
  page.toggle(3);
  page.focus = 1;
  page.remove(1);
  assert.deepEqual([...page.answers()], [[100, 1], [102, 1], [103, 0]]);
});

test("columns: as large as fits, all on screen where that is large enough", () => {
  const wide = columnsFor({ width: 1000, height: 650, count: 24 });
  assert.ok(wide.fits);
  const rows = Math.ceil(24 / wide.columns);
  assert.ok(wide.columns * wide.size + (wide.columns - 1) * 8 <= 1000.01);
  assert.ok(rows * wide.size * 1.25 + (rows - 1) * 8 <= 650.01);
  for (let columns = 1; columns <= 24; columns += 1) {
    const lines = Math.ceil(24 / columns);
    const size = Math.min((1000 - 8 * (columns - 1)) / columns, (650 - 8 * (lines - 1)) / lines / 1.25);
    assert.ok(wide.size >= size - 0.51, `${columns} columns would be larger`);
  }
  const phone = columnsFor({ width: 374, height: 400, count: 24 });
  assert.equal(phone.fits, false);
  assert.ok(phone.size >= 84);
});

test("one that was set aside takes its place again, marked as it was, and is to be seen anew", () => {
  const page = seenPage(4, "similar", new Map([[101, 0], [102, 1]]));
  page.toggle(3);
  const [, task] = page.tasks;
  const was = page.remove(1);
  assert.equal(page.focus, 2, "the focus stays with its candidate");
  page.insert(1, task, was);
  assert.deepEqual(page.tasks.map((one) => one.assignment), [100, 101, 102, 103]);
  assert.deepEqual(page.unseen(), [1]);
  page.see(1);
  assert.deepEqual([...page.answers()], [[100, 1], [101, 0], [102, 1], [103, 0]]);
  assert.deepEqual([...page.changed()], [[100, 1], [103, 0]], "what was answered before is no change");
  assert.equal(page.focus, 1);
});

test("the query gets what the candidates do not need, and candidates fit beside it", () => {
  for (const whole of [900, 1250, 1410, 1900]) {
    for (const count of [6, 12, 25, 30]) {
      const height = 560;
      const query = queryWidth({ whole, height, count, aspect: 1 });
      const found = columnsFor({ width: whole - query - 14, height, count, aspect: 1 });
      const best = columnsFor({ width: whole - Math.max(240, whole * 0.25) - 14, height, count, aspect: 1 });
      assert.ok(query >= 240 && query <= whole * 0.5, `${whole} ${count}: ${query}`);
      if (best.fits) assert.ok(found.size >= best.size * 0.84, `${whole} ${count}: ${found.size} of ${best.size}`);
    }
  }
  assert.ok(queryWidth({ whole: 1412, height: 660, count: 25, aspect: 1 }) > 600, "twice as wide as a quarter");
});
