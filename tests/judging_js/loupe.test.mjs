import assert from "node:assert/strict";
import { test } from "node:test";

import { contained, magnified, placeAt } from "../../annotator_ui/judging/static/loupe.js";

const box = { width: 400, height: 300 };

test("a picture is contained, centred", () => {
  assert.deepEqual(contained(box, { width: 100, height: 300 }), { left: 150, top: 0, width: 100, height: 300 });
  assert.deepEqual(contained(box, { width: 800, height: 200 }), { left: 0, top: 100, width: 400, height: 100 });
});

test("the same place in pictures of different size and shape", () => {
  const tall = { width: 100, height: 300 };
  const wide = { width: 800, height: 200 };
  const place = placeAt(175, 75, box, tall);
  assert.deepEqual(place, { u: 0.25, v: 0.25 });
  for (const natural of [tall, wide]) {
    const { scale, x, y } = magnified(place, 3, box, natural);
    const inner = contained(box, natural);
    assert.ok(Math.abs((inner.left + place.u * inner.width) * scale + x - box.width / 2) < 1e-9);
    assert.ok(Math.abs((inner.top + place.v * inner.height) * scale + y - box.height / 2) < 1e-9);
  }
});

test("beside the picture is its edge", () => {
  assert.deepEqual(placeAt(0, 500, box, { width: 100, height: 300 }), { u: 0, v: 1 });
});
