import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryShelf, Outbox, ownerOf } from "../../annotator_ui/judging/static/outbox.js";

const act = (turn, at = 0) => ({ token: `t${turn}`, assignment: turn, value: 1, at, turn });

test("what a page left behind is there for the next one, in the order in which it was judged", async () => {
  const shelf = new MemoryShelf();
  await new Outbox(shelf).add([act(2, 20), act(1, 10)]);
  await new Outbox(shelf).add([act(1, 30)].map((one) => ({ ...one, token: "later" })));
  const next = new Outbox(shelf);
  assert.equal(await next.load(), 3);
  assert.deepEqual(next.waiting().map((one) => one.token), ["t1", "t2", "later"]);
  assert.deepEqual(next.assignments(), [1, 2]);
});

test("only what is confirmed goes", async () => {
  const shelf = new MemoryShelf();
  const outbox = new Outbox(shelf);
  await outbox.add([act(1), act(2)]);
  await outbox.remove(["t1"]);
  assert.deepEqual((await shelf.all()).map((one) => one.token), ["t2"]);
  assert.equal(outbox.size, 1);
});

test("a browser that keeps nothing loses nothing while the page is open, and says so", async () => {
  const broken = { all: async () => [], put: async () => Promise.reject(new Error("quota")), drop: async () => Promise.reject(new Error("quota")) };
  const outbox = new Outbox(broken);
  let trouble = 0;
  outbox.onTrouble = () => (trouble += 1);
  await outbox.add([act(1)]);
  assert.equal(outbox.size, 1);
  await outbox.remove(["t1"]);
  assert.equal(outbox.size, 0);
  assert.equal(trouble, 2);
});

test("owners differ by deployment, expert and campaign, whatever their names hold", () => {
  const owners = [ownerOf("", "a", "b"), ownerOf("", "a,b", ""), ownerOf("", "a", "b,"), ownerOf("", "a,b,", ""), ownerOf("", "a", ",b"), ownerOf("", "a,", "b"), ownerOf("/a", "", "b"), ownerOf("", "b", "a"), ownerOf("", 'a","b', "")];
  assert.equal(new Set(owners).size, owners.length);
});
