import assert from "node:assert/strict";
import { test } from "node:test";

import { Claim } from "../../annotator_ui/judging/static/claim.js";

const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

// Tabs of one browser over one server, whose answers come when the test says so.
function made() {
  const server = { holder: null, waiting: [] };
  const tab = (name) => {
    const lost = [];
    const api = {
      claimed: false,
      claim: (take, who = name) => new Promise((resolve, reject) => {
        server.waiting.push({ who, arrive: () => ((server.holder = who), resolve({ standby: false })), fail: reject });
      }),
    };
    return { lost, claim: new Claim({ api, owner: "o", tab: name, onLost: () => lost.push(name) }) };
  };
  return { server, tab };
}

test("a claim that was under way when another tab went on does not take its place", async () => {
  const { server, tab } = made();
  const [a, b] = [tab("a"), tab("b")];
  const told = [];
  a.claim.take().then(() => told.push("a"));
  await settle();
  b.claim.take().then(() => told.push("b"));
  await settle();
  const [first, second] = server.waiting.splice(0);
  second.arrive();
  first.arrive(); // late: it beats the claim of b
  await settle();
  assert.deepEqual(told, ["b"]);
  for (const one of server.waiting.splice(0)) one.arrive();
  await settle();
  assert.equal(server.holder, "b", "the tab that went on last holds the claim");
  assert.deepEqual([a.lost, b.lost], [["a"], ["b"]], "each once, when the other went on");
  for (const one of [a, b]) one.claim.stop();
});

test("a claim without a server is made again when there is hope, and never once another tab went on", async () => {
  const { server, tab } = made();
  const a = tab("a");
  let told = false;
  a.claim.take().then(() => (told = true));
  await settle();
  server.waiting.pop().fail(new TypeError("away"));
  await settle();
  assert.equal(server.waiting.length, 0, "not at once");
  a.claim.hope();
  server.waiting.pop().fail(new TypeError("away"));
  await settle();
  a.claim.yield();
  a.claim.hope();
  assert.deepEqual([server.waiting.length, told], [0, false]);
  a.claim.stop();
});
