import assert from "node:assert/strict";
import { test } from "node:test";

import { HttpError } from "../../annotator_ui/judging/static/api.js";
import { Flow } from "../../annotator_ui/judging/static/flow.js";
import { MemoryShelf, Outbox } from "../../annotator_ui/judging/static/outbox.js";

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const unit = (assignment) => ({ kind: "pair", tasks: [{ assignment, query: "q", mode: "pair" }] });

// A flow over a server that knows what was stored.
function made({ total = 10, fetch, history = async () => [] } = {}) {
  const outbox = new Outbox(new MemoryShelf());
  const stored = new Set();
  const told = { ready: [], idle: 0, trouble: [] };
  let asked = 0;
  const ordinary = async (count, skip) => {
    const open = Array.from({ length: total }, (_, number) => number + 1).filter((number) => !stored.has(number) && !skip.includes(number));
    return { units: open.slice(0, count).map(unit), left: open.length, total };
  };
  const flow = new Flow({
    fetch: (...asking) => {
      asked += 1;
      return (fetch ?? ordinary)(...asking);
    },
    history, depth: 4, low: 3, outbox,
    pictures: { want() {}, refresh() {}, retry() {} },
    wanted: () => [],
    on: {
      ready: (one) => told.ready.push(one.tasks[0].assignment),
      idle: () => (told.idle += 1),
      standing: () => {},
      trouble: (error) => told.trouble.push(error),
    },
  });
  const judge = async (value = 1) => {
    const { current } = flow;
    const { assignment } = current.tasks[0];
    await outbox.add([{ token: String(assignment) + Math.random(), assignment, value, at: 0, turn: 0 }]);
    flow.done(current, new Map([[assignment, value]]));
  };
  return { flow, outbox, stored, told, judge, asked: () => asked };
}

test("each pair once, in order, although nothing is confirmed", async () => {
  const { flow, told, judge } = made();
  await flow.feed();
  for (let turn = 0; turn < 10; turn += 1) {
    await judge();
    await settle();
  }
  assert.deepEqual(told.ready, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.ok(told.idle > 0);
});

test("back, and forward again over what was said", async () => {
  const { flow, told, judge } = made();
  await flow.feed();
  await judge();
  await judge(0);
  await settle();
  assert.equal(await flow.back(), true);
  assert.equal(await flow.back(), true);
  assert.deepEqual([...flow.current.values], [[1, 1]]);
  assert.equal(await flow.back(), false);
  assert.deepEqual([...flow.current.values], [[1, 1]], "the first stays");
  flow.done(flow.current, new Map([[1, 0]]));
  assert.deepEqual([...flow.current.values], [[2, 0]], "the second comes again, with its answer");
  flow.done(flow.current, flow.current.values);
  assert.deepEqual(told.ready, [1, 2, 3, 2, 1, 2, 3]);
});

test("back beyond what this page did asks the server", async () => {
  const answers = [7, 6, 5].map((assignment) => ({ assignment, value: 1, query: "q", candidate: "c", mode: "pair", returned: false }));
  const { flow, told } = made({ history: async () => answers });
  await flow.feed();
  for (let turn = 0; turn < 3; turn += 1) assert.equal(await flow.back(), true);
  assert.equal(await flow.back(), false);
  assert.deepEqual(told.ready.slice(1), [7, 6, 5]);
});

test("a refusal is asked about once, not in a circle", async () => {
  for (const status of [401, 403, 404]) {
    const { flow, told, asked } = made({
      fetch: async () => {
        throw new HttpError(status, { error: "no" });
      },
    });
    await flow.feed();
    await settle();
    assert.equal(asked(), 1, String(status));
    assert.equal(told.trouble.length, 1);
    flow.hope();
    await settle();
    assert.equal(asked(), 2);
    flow.stop();
  }
});

test("an outage is waited out", async () => {
  let away = true;
  const { flow, told } = made({
    fetch: async () => {
      if (away) throw new TypeError("away");
      return { units: [unit(1)], left: 1, total: 1 };
    },
  });
  flow.feed();
  await settle();
  away = false;
  flow.hope();
  await settle();
  assert.deepEqual(told.ready, [1]);
});

test("who goes back and leaves a pair unanswered is asked it again", async () => {
  const { flow, told, judge } = made({ total: 2 });
  await flow.feed();
  await judge(null);
  await settle();
  await judge(1);
  await settle();
  const before = told.idle;
  await flow.back();
  await flow.back();
  assert.equal(flow.current.tasks[0].assignment, 1);
  flow.done(flow.current, new Map());
  await settle();
  assert.equal(flow.queue.exhausted && told.idle > before && !flow.current, false, "not finished while one is open");
});
