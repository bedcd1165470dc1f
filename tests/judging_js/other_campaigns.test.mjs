import assert from "node:assert/strict";
import { test } from "node:test";

import { OtherCampaigns } from "../../annotator_ui/judging/static/other_campaigns.js";
import { MemoryShelf, ownerOf } from "../../annotator_ui/judging/static/outbox.js";

const act = (turn) => ({ token: `t${turn}`, assignment: turn, value: 1, at: turn, turn });

// A browser's shelves: what each owner left behind.
async function shelves(left) {
  const found = new Map();
  for (const [owner, acts] of left) {
    const shelf = new MemoryShelf();
    for (const one of acts) await shelf.put([one]);
    found.set(owner, shelf);
  }
  return { owners: async () => [...found.keys()], of: (owner) => found.get(owner) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 20));

test("what closed tabs of this expert left behind is sent, each to its own campaign; nobody else's is", async () => {
  const shelf = await shelves([
    [ownerOf("", "ann", "one"), [act(1), act(2)]], [ownerOf("", "ann", "two"), [act(3)]], [ownerOf("", "ann", "mine"), [act(4)]],
    [ownerOf("", "bob", "one"), [act(5)]], [ownerOf("/eds", "ann", "one"), [act(6)]],
  ]);
  const sent = [];
  let stored = 0;
  const otherCampaigns = new OtherCampaigns({
    base: "", expert: "ann", shelf, besides: "mine", onStored: () => (stored += 1),
    post: async (campaign, acts) => {
      sent.push([campaign, acts.map((one) => one.token)]);
      return { status: 200, body: { stored: acts.map((one) => one.token), standby: false } };
    },
  });
  await otherCampaigns.look();
  await settled();
  assert.deepEqual(sent, [["one", ["t1", "t2"]], ["two", ["t3"]]]);
  assert.equal(stored, 2);
  assert.equal(otherCampaigns.state().waiting, 0);
  assert.equal((await shelf.of(ownerOf("", "bob", "one")).all()).length, 1);
  otherCampaigns.stop();
});

test("without a network it waits, says since when, and goes on by itself", async () => {
  let away = true;
  const pauses = [];
  const otherCampaigns = new OtherCampaigns({
    base: "", expert: "ann", shelf: await shelves([[ownerOf("", "ann", "one"), [act(1)]]]),
    timing: { later: (action) => pauses.push(action), now: () => 1000 },
    post: async (_, acts) => {
      if (away) throw new TypeError("away");
      return { status: 200, body: { stored: acts.map((one) => one.token), standby: false } };
    },
  });
  await otherCampaigns.look();
  await settled();
  assert.deepEqual([otherCampaigns.state().waiting, otherCampaigns.state().offlineSince], [1, 1000]);
  away = false;
  pauses.at(-1)();
  await settled();
  assert.deepEqual([otherCampaigns.state().waiting, otherCampaigns.state().offlineSince], [0, null]);
  otherCampaigns.stop();
});

test("a browser that keeps nothing has nothing to send", async () => {
  const broken = { owners: async () => Promise.reject(new Error("no storage")) };
  const otherCampaigns = new OtherCampaigns({ base: "", expert: "ann", shelf: broken, post: async () => assert.fail("there is nothing") });
  await otherCampaigns.look();
  assert.equal(otherCampaigns.state().waiting, 0);
});

test("what another tab has brought meanwhile is no trouble of this page any more", async () => {
  const owner = ownerOf("", "ann", "one");
  const shelf = await shelves([[owner, [act(1)]]]);
  let there = [owner];
  const otherCampaigns = new OtherCampaigns({
    base: "", expert: "ann", shelf: { owners: async () => there, of: shelf.of },
    post: async () => ({ status: 401, body: null }),
  });
  await otherCampaigns.look();
  await settled();
  assert.deepEqual([otherCampaigns.state().waiting, otherCampaigns.state().signedOut], [1, true]);
  there = [];
  await otherCampaigns.look();
  assert.deepEqual([otherCampaigns.state().waiting, otherCampaigns.state().signedOut], [0, false]);
});
