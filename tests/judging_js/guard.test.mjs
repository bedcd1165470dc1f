import assert from "node:assert/strict";
import { test } from "node:test";

import { MOMENT, refusal } from "../../annotator_ui/judging/static/guard.js";
import { Stopwatch } from "../../annotator_ui/judging/static/timing.js";
import { strokeOf } from "../../annotator_ui/judging/static/swipe.js";
import { makeToken } from "../../annotator_ui/judging/static/token.js";

const fine = { painted: true, paintedAt: 1000, pressedAt: 1000 + MOMENT, repeat: false, dialog: false, standby: false, signedOut: false, hidden: false };

test("a press a moment after painting counts", () => {
  assert.equal(refusal(fine), null);
  assert.ok(MOMENT >= 150 && MOMENT <= 200);
});

test("everything else does not", () => {
  const cases = {
    "not painted": { painted: false },
    "too soon": { pressedAt: 1000 + MOMENT - 1 },
    repeat: { repeat: true },
    dialog: { dialog: true },
    standby: { standby: true },
    "signed out": { signedOut: true },
    hidden: { hidden: true },
  };
  for (const [why, change] of Object.entries(cases)) assert.equal(refusal({ ...fine, ...change }), why);
});

test("the time begins with painting and stops while the tab is hidden", () => {
  let now = 0;
  const watch = new Stopwatch(() => now);
  watch.setVisible(true); // before anything was painted nothing runs
  now = 5000;
  assert.equal(watch.seconds(), 0);
  watch.start();
  now += 2000;
  watch.setVisible(false);
  now += 60000;
  watch.setVisible(true);
  watch.setVisible(true);
  now += 500;
  assert.equal(watch.seconds(), 2.5);
  watch.start(false);
  now += 9000;
  assert.equal(watch.seconds(), 0);
  watch.setVisible(true);
  now += 1000;
  assert.equal(watch.seconds(), 1);
});

test("a stroke is long, quick and sideways", () => {
  assert.equal(strokeOf({ dx: 90, dy: 10, ms: 200 }), "right");
  assert.equal(strokeOf({ dx: -90, dy: 10, ms: 200 }), "left");
  for (const other of [{ dx: 20, dy: 0, ms: 100 }, { dx: 90, dy: 80, ms: 200 }, { dx: 90, dy: 0, ms: 2000 }, { dx: 90, dy: 0, ms: 200, fingers: 2 }]) assert.equal(strokeOf(other), null);
});

test("tokens differ and need no crypto.randomUUID", () => {
  const source = { getRandomValues: (array) => globalThis.crypto.getRandomValues(array) };
  const tokens = Array.from({ length: 1000 }, () => makeToken(source));
  assert.equal(new Set(tokens).size, 1000);
  assert.match(tokens[0], /^[A-Za-z0-9_-]{20}$/);
});
