import assert from "node:assert/strict";
import { test } from "node:test";

import { laid, moved, zoomedAt } from "../../annotator_ui/judging/static/zoom.js";

const BOX = { width: 400, height: 300 };
const WIDE = { width: 800, height: 400 }; // lies in the box as 400 x 200, with 50 above and below
const WHOLE = { scale: 1, u: 0.5, v: 0.5, x: 0.5, y: 0.5 };
const place = (state, u, v) => {
  const { left, top } = laid(state, BOX, WIDE);
  return [left + (u * 400) * state.scale, top + (50 + v * 200) * state.scale];
};

test("the whole picture lies untouched", () => {
  assert.deepEqual(laid(WHOLE, BOX, WIDE), { left: 0, top: 0 });
});

test("what is below the pointer stays there", () => {
  const state = zoomedAt(WHOLE, 4, 0.25, 0.5, BOX, WIDE);
  const again = zoomedAt(state, 6, 0.25, 0.5, BOX, WIDE);
  for (const one of [state, again]) {
    const [x, y] = place(one, 0.25, 0.5);
    assert.ok(Math.abs(x - 100) < 1e-9 && Math.abs(y - 150) < 1e-9, `${x} ${y}`);
  }
});

test("no empty border where the picture could be, and back to the whole", () => {
  let state = zoomedAt(WHOLE, 4, 0.5, 0.5, BOX, WIDE);
  for (let turn = 0; turn < 30; turn += 1) state = moved(state, 0.3, 0.3, BOX, WIDE);
  assert.deepEqual(place(state, 0, 0).map(Math.round), [0, 0]);
  for (let turn = 0; turn < 30; turn += 1) state = moved(state, -0.3, -0.3, BOX, WIDE);
  assert.deepEqual(place(state, 1, 1).map(Math.round), [400, 300]);
  assert.deepEqual(zoomedAt(state, 0.5, 0.5, 0.5, BOX, WIDE), WHOLE);
  assert.equal(moved(WHOLE, 0.3, 0.3, BOX, WIDE), WHOLE, "what is whole does not move");
});
