// What is said about saving, honestly, in one line.

import { clock, fill } from "./words.js";

export function statusOf(state, texts, time = clock) {
  const { waiting, refused, offlineSince, signedOut, unkept } = state;
  if (refused > 0) return { tone: "bad", text: fill(texts.refused, { count: refused }) };
  if (signedOut) return { tone: "bad", text: fill(texts.signedOut, { count: waiting }) };
  if (offlineSince !== null) {
    const words = waiting > 0 ? texts.offline : texts.offlineEmpty;
    return { tone: "warn", text: fill(words, { count: waiting, time: time(offlineSince) }) };
  }
  if (waiting > 0) return { tone: unkept ? "warn" : "busy", text: fill(unkept ? texts.unkept : texts.waiting, { count: waiting }) };
  return { tone: "good", text: texts.saved };
}
