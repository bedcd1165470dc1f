import assert from "node:assert/strict";
import { test } from "node:test";

import { Speed, spell } from "../../annotator_ui/judging/static/speed.js";
import { statusOf } from "../../annotator_ui/judging/static/status.js";
import { clock, fill, speak } from "../../annotator_ui/judging/static/words.js";

const texts = {
  saved: "All saved", waiting: "{count} being saved", unkept: "{count} being saved; stay", offline: "{count} waiting, offline since {time}",
  offlineEmpty: "Offline since {time}", signedOut: "{count} waiting, signed out", refused: "{count} not accepted",
};
const quiet = { waiting: 0, refused: 0, offlineSince: null, signedOut: false, unkept: false };
const told = (change) => statusOf({ ...quiet, ...change }, texts, () => "10:02");

test("the truth in one line", () => {
  assert.deepEqual(told({}), { tone: "good", text: "All saved" });
  assert.deepEqual(told({ waiting: 3 }), { tone: "busy", text: "3 being saved" });
  assert.deepEqual(told({ waiting: 4, offlineSince: 1 }), { tone: "warn", text: "4 waiting, offline since 10:02" });
  assert.deepEqual(told({ offlineSince: 1 }), { tone: "warn", text: "Offline since 10:02" });
  assert.deepEqual(told({ waiting: 2, signedOut: true, offlineSince: 1 }), { tone: "bad", text: "2 waiting, signed out" });
  assert.deepEqual(told({ waiting: 2, refused: 1 }), { tone: "bad", text: "1 not accepted" });
  assert.deepEqual(told({ waiting: 1, unkept: true }), { tone: "warn", text: "1 being saved; stay" });
});

test("texts are filled in, unknown names stay", () => {
  assert.equal(fill("{a} of {b} {c}", { a: 1, b: "{a}" }), "1 of {a} {c}");
});

test("pace counts work, not pauses; one reminder for each long stretch", () => {
  let now = 0;
  const speed = new Speed(() => now);
  assert.equal(speed.perHour(), null);
  for (let i = 0; i <= 20; i += 1) {
    speed.note();
    now += 3000;
  }
  assert.equal(Math.round(speed.perHour()), 1200);
  now += 3600e3;
  speed.note();
  now += 3000;
  for (let i = 0; i < 20; i += 1, now += 3000) speed.note();
  assert.equal(Math.round(speed.perHour()), 1200);
  let reminders = 0;
  for (let i = 0; i < 900; i += 1, now += 3000) {
    speed.note();
    reminders += speed.restDue();
  }
  assert.equal(reminders, 1);
});

test("time as people say it", () => {
  const words = { moment: "under a minute", minutes: "{minutes} min", hours: "{hours} h {minutes} min" };
  assert.deepEqual([0.5, 12.4, 125].map((minutes) => spell(minutes, words)), ["under a minute", "12 min", "2 h 5 min"]);
});

test("a page of a grid takes its time, and a break before it is no work", () => {
  let now = 0;
  const speed = new Speed(() => now);
  for (let i = 0; i < 6; i += 1) {
    now += i === 3 ? 11 * 60e3 : 0; // the tab was hidden
    now += 60e3;
    speed.note(24, 60);
  }
  assert.equal(Math.round(speed.perHour()), 1440);
  assert.equal(speed.worked, 3 * 60e3, "the stretch begins behind the break");
  now += 180e3;
  speed.note(24, 180);
  assert.equal(speed.worked, 6 * 60e3, "three minutes of looking at 24 are no break");
});

test("numbers, times and plurals are those of the language", () => {
  const pairs = { by: "count", one: "{count} Paar", other: "{count} Paare" };
  assert.equal(fill("{n}", { n: 12345 }), "12,345");
  speak("de");
  assert.deepEqual([1, 0, 12345].map((count) => fill(pairs, { count })), ["1 Paar", "0 Paare", "12.345 Paare"]);
  assert.equal(fill("{n}", { n: 2.5 }), "2,5");
  assert.equal(fill("{id}", { id: "12345" }), "12345", "what is no number stays");
  assert.equal(clock(new Date(2026, 0, 2, 9, 4)), "09:04");
  speak("pl");
  const forms = { by: "n", one: "para", few: "pary", many: "par", other: "pary" };
  assert.deepEqual([1, 3, 5].map((n) => fill(forms, { n })), ["para", "pary", "par"]);
  speak("en-GB");
});
