import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryShelf, Outbox } from "../../annotator_ui/judging/static/outbox.js";
import { BATCH, Sender, together } from "../../annotator_ui/judging/static/sender.js";

const act = (turn, extra = {}) => ({ token: `t${turn}`, assignment: turn, value: 1, at: 0, turn, ...extra });
const all = (batch) => ({ status: 200, body: { stored: batch.map((one) => one.token), standby: false } });

// A sender whose pauses end when the test says so.
async function made(post, acts = []) {
  const shelf = new MemoryShelf();
  const outbox = new Outbox(shelf);
  await outbox.add(acts);
  const pauses = [];
  const told = { standby: 0, stored: [] };
  const sender = new Sender({
    outbox,
    post,
    later: (action, ms) => {
      pauses.push({ action, ms });
      return pauses.length;
    },
    now: () => 1000,
    onStandby: () => (told.standby += 1),
    onStored: (stored) => told.stored.push(...stored.map((one) => one.token)),
  });
  return { sender, outbox, shelf, pauses, told };
}

test("what is confirmed leaves the outbox, in order and in small batches", async () => {
  const sent = [];
  const { sender, outbox, shelf } = await made(async (batch) => {
    sent.push(batch.map((one) => one.turn));
    return all(batch);
  }, Array.from({ length: BATCH + 5 }, (_, turn) => act(turn)));
  await sender.kick();
  assert.deepEqual(sent.map((batch) => batch.length), [BATCH, 5]);
  assert.deepEqual(sent.flat(), Array.from({ length: BATCH + 5 }, (_, turn) => turn));
  assert.equal(outbox.size, 0);
  assert.equal((await shelf.all()).length, 0);
});

test("what is not confirmed stays, and is tried again at growing distance, never beyond 2 s", async () => {
  const { sender, outbox, pauses } = await made(async () => {
    throw new TypeError("away");
  }, [act(1)]);
  await sender.kick();
  for (let i = 0; i < 6; i += 1) {
    pauses.at(-1).action();
    await sender.running;
  }
  assert.deepEqual(pauses.map((one) => one.ms), [250, 500, 1000, 2000, 2000, 2000, 2000]);
  assert.equal(outbox.size, 1);
  assert.equal(sender.state().offlineSince, 1000);
});

test("an answer that was lost does no harm: the same token is sent again", async () => {
  let first = true;
  const tokens = [];
  const { sender, outbox, pauses } = await made(async (batch) => {
    tokens.push(batch[0].token);
    if (first) {
      first = false;
      throw new TypeError("cut after the commit");
    }
    return all(batch);
  }, [act(1)]);
  await sender.kick();
  pauses.at(-1).action();
  await sender.running;
  assert.deepEqual(tokens, ["t1", "t1"]);
  assert.equal(outbox.size, 0);
  assert.equal(sender.state().offlineSince, null);
});

test("hope (online, visible) does not wait for the pause", async () => {
  let away = true;
  const { sender, outbox } = await made(async (batch) => {
    if (away) throw new TypeError("away");
    return all(batch);
  }, [act(1)]);
  await sender.kick();
  away = false;
  sender.kick(); // an ordinary kick keeps to the pause
  assert.equal(outbox.size, 1);
  await sender.kick({ hope: true });
  assert.equal(outbox.size, 0);
});

test("401 keeps the outbox and asks nobody until there is hope", async () => {
  let status = 401;
  let asked = 0;
  const { sender, outbox, pauses } = await made(async (batch) => {
    asked += 1;
    return status === 200 ? all(batch) : { status, body: { error: "signed out" } };
  }, [act(1)]);
  await sender.kick();
  assert.equal(sender.state().signedOut, true);
  sender.kick();
  assert.equal(asked, 1);
  assert.equal(pauses.length, 0);
  assert.equal(outbox.size, 1);
  status = 200;
  await sender.kick({ hope: true });
  assert.equal(outbox.size, 0);
});

test("one act that the server refuses does not hold the others back, and is not thrown away", async () => {
  const { sender, outbox, told } = await made(async (batch) => {
    if (batch.some((one) => one.token === "t2")) return { status: 422, body: { error: "seconds is -1" } };
    return all(batch);
  }, [act(1), act(2), act(3)]);
  await sender.kick();
  assert.deepEqual(told.stored, ["t1", "t3"]);
  assert.deepEqual(outbox.waiting().map((one) => one.token), ["t2"]);
  assert.deepEqual(sender.state().reasons, ["seconds is -1"]);
  assert.equal(sender.state().waiting, 0);
});

test("server errors are trouble on the way, not a refusal", async () => {
  for (const status of [429, 500, 502, 503]) {
    const { sender, outbox, pauses } = await made(async () => ({ status, body: null }), [act(1)]);
    await sender.kick();
    assert.equal(pauses.length, 1, String(status));
    assert.equal(outbox.size, 1);
    assert.equal(sender.state().refused, 0);
  }
});

test("what is judged while a batch is on its way goes with the next", async () => {
  let answer;
  const sent = [];
  const { sender, outbox } = await made((batch) => {
    sent.push(batch.map((one) => one.turn));
    return new Promise((resolve) => (answer = () => resolve(all(batch))));
  }, [act(1)]);
  const running = sender.kick();
  await outbox.add([act(2), act(3)]);
  sender.kick();
  answer();
  await new Promise((resolve) => setTimeout(resolve, 5));
  answer();
  await running;
  assert.deepEqual(sent, [[1], [2, 3]]);
  assert.equal(outbox.size, 0);
});

test("the server says when another tab goes on; what was judged is stored all the same", async () => {
  const { sender, told, outbox } = await made(async (batch) => ({ status: 200, body: { ...all(batch).body, standby: true } }), [act(1)]);
  await sender.kick();
  assert.equal(told.standby, 1);
  assert.equal(outbox.size, 0);
});

test("an answer that confirms nothing is not asked for without a rest", async () => {
  const { sender, pauses } = await made(async () => ({ status: 200, body: { stored: [], standby: false } }), [act(1)]);
  await sender.kick();
  assert.equal(pauses.length, 1);
});

test("of a batch only what the answer names leaves the outbox", async () => {
  let first = true;
  const { sender, outbox, told } = await made(async (batch) => {
    const named = first ? batch.slice(0, 1) : batch;
    first = false;
    return { status: 200, body: { stored: named.map((one) => one.token), standby: false } };
  }, [act(1), act(2)]);
  let largest = 0;
  const remove = outbox.remove.bind(outbox);
  outbox.remove = (tokens) => {
    largest = Math.max(largest, tokens.length);
    return remove(tokens);
  };
  await sender.kick();
  assert.equal(largest, 1);
  assert.deepEqual(told.stored, ["t1", "t2"]);
});

test("several senders are told as one: all that waits, the longest outage, any trouble", () => {
  const calm = { waiting: 0, refused: 0, reasons: [], offlineSince: null, signedOut: false };
  assert.deepEqual(together([calm, calm]), calm);
  assert.deepEqual(
    together([{ ...calm, waiting: 2, offlineSince: 9 }, { ...calm, waiting: 1, refused: 1, reasons: ["no"], offlineSince: 4, signedOut: true }]),
    { waiting: 3, refused: 1, reasons: ["no"], offlineSince: 4, signedOut: true });
});
