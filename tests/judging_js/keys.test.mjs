import assert from "node:assert/strict";
import { test } from "node:test";

import { actionOf, GRID, PAIR, rebound, restored, signOf } from "../../annotator_ui/judging/static/keys.js";

const press = (key, extra = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...extra });

test("each key does one thing", () => {
  for (const bindings of [PAIR, GRID]) {
    const keys = Object.values(bindings).flat();
    assert.equal(new Set(keys).size, keys.length);
  }
});

test("the keys of the pair view", () => {
  const expected = { k: "similar", j: "different", ArrowDown: "unsure", "+": "zoomIn", s: "similar", S: "similar", ArrowRight: "similar", d: "different", ArrowLeft: "different", u: "unsure", z: "undo", Backspace: "undo", f: "flag", g: "guide", "?": "help", q: null, Escape: null };
  for (const [key, action] of Object.entries(expected)) assert.equal(actionOf(press(key), PAIR), action, key);
});

test("chords belong to the browser", () => {
  for (const chord of ["ctrlKey", "metaKey", "altKey"]) assert.equal(actionOf(press("s", { [chord]: true }), PAIR), null);
});

test("another key for an action; a taken or reserved one is refused", () => {
  const changed = rebound(PAIR, "similar", "Y");
  assert.equal(actionOf(press("y"), changed), "similar");
  assert.equal(actionOf(press("k"), changed), null);
  assert.equal(actionOf(press("ArrowRight"), changed), "similar", "the second key stays");
  assert.equal(rebound(PAIR, "similar", "j"), null);
  assert.equal(rebound(PAIR, "similar", "Tab"), null);
  assert.equal(rebound(PAIR, "similar", "F5"), null);
  assert.deepEqual(rebound(PAIR, "similar", "ArrowRight").similar, ["ArrowRight", "s"]);
});

test("kept keys are taken up again; nonsense is not", () => {
  const changed = rebound(PAIR, "unsure", "y");
  assert.deepEqual(restored(PAIR, JSON.parse(JSON.stringify(changed))), changed);
  for (const nonsense of [null, 3, "x", [], { similar: "s" }, { similar: [3] }, { similar: ["j"] }]) assert.deepEqual(restored(PAIR, nonsense), PAIR);
});

test("the first keys of before are no choice: the left key is the left button", () => {
  assert.deepEqual(restored(PAIR, { similar: ["s", "ArrowRight"], different: ["d", "ArrowLeft"], unsure: ["n"] }), rebound(PAIR, "unsure", "n"));
  assert.deepEqual([PAIR.different[0], PAIR.similar[0]].map(signOf), ["J", "K"]);
});

test("signs on the buttons", () => {
  assert.deepEqual(["s", "ArrowRight", " ", "?"].map(signOf), ["S", "→", "Space", "?"]);
});
