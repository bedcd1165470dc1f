import assert from "node:assert/strict";
import { test } from "node:test";

import { Queue } from "../../annotator_ui/judging/static/queue.js";

const unit = (...assignments) => ({ kind: "pair", tasks: assignments.map((assignment) => ({ assignment })) });

// A server with open tasks, which leaves out what is skipped.
function server(open) {
  const asked = [];
  return {
    open,
    asked,
    async fetch(count, skip) {
      asked.push([...skip].sort((a, b) => a - b));
      return { units: open.filter((one) => !skip.includes(one)).slice(0, count).map((one) => unit(one)), left: open.length };
    },
  };
}

test("it holds what it fetched, asks for the rest only, and gives each once", async () => {
  const far = server([1, 2, 3, 4, 5]);
  const queue = new Queue({ fetch: far.fetch, depth: 3, low: 2 });
  assert.equal(await queue.fill(), true);
  assert.deepEqual(queue.units.map((one) => one.tasks[0].assignment), [1, 2, 3]);
  assert.equal(await queue.fill(), false, "full");
  const first = queue.take();
  queue.hold(first);
  await queue.fill();
  assert.deepEqual(far.asked.at(-1), [1, 2, 3]);
  assert.deepEqual(queue.units.map((one) => one.tasks[0].assignment), [2, 3, 4]);
});

test("what waits in the outbox is left out although the server still tells it", async () => {
  const far = server([7, 8, 9]);
  const queue = new Queue({ fetch: far.fetch, depth: 2, low: 2, skips: () => [7] });
  await queue.fill();
  assert.deepEqual(queue.units.map((one) => one.tasks[0].assignment), [8, 9]);
});

test("a task that is taken while the answer is on its way does not come twice", async () => {
  let answer;
  const queue = new Queue({ fetch: () => new Promise((resolve) => (answer = resolve)), depth: 5, low: 5 });
  queue.units = [unit(1)];
  const filling = queue.fill();
  queue.take(); // judged, sent and confirmed before the answer arrives
  answer({ units: [unit(1), unit(2)] });
  await filling;
  assert.deepEqual(queue.units.map((one) => one.tasks[0].assignment), [2]);
});

test("one request at a time", async () => {
  const far = server([1, 2, 3]);
  const queue = new Queue({ fetch: far.fetch, depth: 3, low: 3 });
  await Promise.all([queue.fill(), queue.fill(), queue.fill()]);
  assert.equal(far.asked.length, 1);
});

test("fewer than asked for is the end, until something comes back", async () => {
  const far = server([1]);
  const queue = new Queue({ fetch: far.fetch, depth: 3, low: 3 });
  await queue.fill();
  assert.equal(queue.needy, false);
  queue.take();
  assert.equal(queue.exhausted, true);
  queue.reopen();
  assert.equal(queue.needy, true);
});

test("what comes back while an answer is on its way is asked for again", async () => {
  let answer;
  const queue = new Queue({ fetch: () => new Promise((resolve) => (answer = resolve)), depth: 5, low: 5 });
  const filling = queue.fill();
  queue.reopen();
  answer({ units: [] });
  await filling;
  assert.equal(queue.exhausted, false);
});

test("dropping takes tasks out of pages and empty pages away", () => {
  const queue = new Queue({ fetch: async () => ({ units: [] }), depth: 1, low: 1 });
  queue.units = [unit(1, 2), unit(3)];
  queue.drop([1, 3]);
  assert.deepEqual(queue.units.map((one) => one.tasks.map((task) => task.assignment)), [[2]]);
});

test("a failed request may be tried again", async () => {
  let fail = true;
  const queue = new Queue({
    fetch: async () => {
      if (fail) throw new TypeError("away");
      return { units: [unit(1)] };
    },
    depth: 1,
    low: 1,
  });
  await assert.rejects(queue.fill());
  fail = false;
  assert.equal(await queue.fill(), true);
});

test("three pages of a grid, or twenty pairs, are kept ready", async () => {
  const page = (first) => ({ kind: "grid", tasks: [{ assignment: first }, { assignment: first + 1 }] });
  const pair = (number) => ({ kind: "pair", tasks: [{ assignment: number }] });
  const asked = [];
  let open = Array.from({ length: 9 }, (_, number) => page(10 * number));
  const queue = new Queue({
    fetch: async (count) => {
      asked.push(count);
      const units = open.slice(0, count);
      open = open.slice(count);
      return { units };
    },
    depth: 28, low: 21, page: 7,
  });
  await queue.fill();
  assert.deepEqual(asked, [4]);
  assert.equal(queue.upcoming().length, 3);
  queue.take();
  assert.equal(queue.needy, false, "three are left");
  queue.take();
  assert.equal(queue.needy, true);
  queue.units = Array.from({ length: 30 }, (_, number) => pair(1000 + number));
  assert.equal(queue.upcoming().length, 21);
});
