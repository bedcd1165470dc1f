import assert from "node:assert/strict";
import { test } from "node:test";

import { named } from "../../annotator_ui/judging/static/states.js";

test("waiting for pictures without a network is told as such, and only then", () => {
  assert.equal(named("loading", { offlineSince: 5, waiting: 3 }), "ahead");
  assert.equal(named("loading", { offlineSince: null, waiting: 3 }), "loading");
  assert.equal(named("loading", { offlineSince: 5, waiting: 0 }), "loading");
  assert.equal(named("finished", { offlineSince: 5, waiting: 3 }), "finished");
});
