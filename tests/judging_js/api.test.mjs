import assert from "node:assert/strict";
import { test } from "node:test";

import { Api, HttpError } from "../../annotator_ui/judging/static/api.js";

const json = (body, status = 200) => new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const made = (fetch) => new Api({ base: "/eds", campaign: "1-f", expert: "ann", tab: "t+1", fetch });

test("what goes to the server", async () => {
  const asked = [];
  const api = made(async (url, options) => {
    asked.push([options.method ?? "GET", url, options.headers["x-eds"], options.body && JSON.parse(options.body)]);
    return json({ stored: [], tasks: [], standby: false });
  });
  await api.tasks(3, [1, 2]);
  await api.claim(true);
  await api.tasks(3, []);
  await api.deliver([{ token: "a", assignment: 1, value: null, seconds: 2, mode: "pair", at: 5, turn: 1 }, { token: "b", assignment: 2, reason: "r", at: 6, turn: 2 }]);
  assert.deepEqual(asked, [
    ["GET", "/eds/api/campaigns/1-f/next?count=3&skip=1,2", undefined, undefined],
    ["POST", "/eds/api/campaigns/1-f/tab", "1", { tab: "t+1", expert: "ann", take: true }],
    ["GET", "/eds/api/campaigns/1-f/next?count=3&tab=t%2B1&skip=", undefined, undefined],
    ["POST", "/eds/api/campaigns/1-f/judgements", "1", { tab: "t+1", expert: "ann", judgements: [{ token: "a", assignment: 1, value: null, seconds: 2, mode: "pair" }], flags: [{ token: "b", assignment: 2, reason: "r" }] }],
  ]);
});

test("pages are shown as grids, repeats as pairs", async () => {
  const pages = [[{ assignment: 1, mode: "grid" }, { assignment: 2, mode: "grid" }], [{ assignment: 3, mode: "pair" }, { assignment: 4, mode: "pair" }]];
  const { units } = await made(async () => json({ pages })).pages(2, 24, []);
  assert.deepEqual(units.map((unit) => [unit.kind, unit.tasks.map((task) => task.assignment)]), [["grid", [1, 2]], ["pair", [3]], ["pair", [4]]]);
});

test("a page of a proxy or of Streamlit is no answer", async () => {
  const api = made(async () => new Response("<html>", { headers: { "content-type": "text/html" } }));
  await assert.rejects(api.tasks(1, []), TypeError);
  await assert.rejects(api.deliver([]), TypeError);
});

test("refusals carry their status", async () => {
  const api = made(async () => json({ error: "no" }, 403));
  await assert.rejects(api.history(5), (error) => error instanceof HttpError && error.status === 403 && error.message === "no");
  assert.deepEqual(await api.deliver([]), { status: 403, body: { error: "no", standby: false } });
});

test("what was asked before the claim tells nothing of it, however late the answer comes", async () => {
  let answer;
  const api = made((url) => (url.endsWith("/tab") ? Promise.resolve(json({ standby: false })) : new Promise((resolve) => (answer = () => resolve(json({ stored: ["a"], standby: true }))))));
  const early = api.deliver([]);
  await api.claim(true);
  answer();
  assert.equal((await early).body.standby, false);
  const later = api.deliver([]);
  answer();
  assert.equal((await later).body.standby, true);
  const before = api.deliver([]);
  await api.claim(true);
  answer();
  assert.equal((await before).body.standby, false);
});
