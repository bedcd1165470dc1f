import assert from "node:assert/strict";
import { test } from "node:test";

import { named } from "../../annotator_ui/judging/static/states.js";

test("waiting for pictures without a network is told as such, and only then", () => {
  assert.equal(named("loading", { offlineSince: 5, waiting: 3, begun: true }), "ahead");
  assert.equal(named("loading", { offlineSince: null, waiting: 3, begun: true }), "loading");
  assert.equal(named("loading", { offlineSince: 5, waiting: 0, begun: true }), "loading");
  assert.equal(named("finished", { offlineSince: 5, waiting: 3, begun: true }), "finished");
});

test("nobody is ahead of a network that has brought nothing yet", () => {
  assert.equal(named("ahead", { offlineSince: 5, waiting: 0, begun: true }), "ahead");
  assert.equal(named("ahead", { offlineSince: 5, waiting: 0, begun: false }), "unreached");
  assert.equal(named("loading", { offlineSince: 5, waiting: 3, begun: false }), "unreached");
  assert.equal(named("loading", { offlineSince: null, waiting: 0, begun: false }), "loading");
});
