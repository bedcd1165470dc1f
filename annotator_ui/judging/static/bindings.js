// The expert's keys, kept in this browser under the expert's name.

import { GRID, PAIR, restored, signOf } from "./keys.js";

export class Bindings {
  constructor(expert, storage = safeStorage()) {
    this.storage = storage;
    this.place = `eds-keys:${expert}`;
    this.defaults = { pair: PAIR, grid: GRID };
    const kept = this.#read();
    this.current = { pair: restored(PAIR, kept?.pair), grid: restored(GRID, kept?.grid) };
  }

  set(kind, bindings) {
    this.current[kind] = bindings;
    try {
      this.storage?.setItem(this.place, JSON.stringify(this.current));
    } catch {
      // a full or forbidden storage: the choice holds until the page is left
    }
  }

  sign(kind, action) {
    const names = this.current[kind][action] ?? [];
    if (names.length === 0) return null;
    return { name: names.map((name) => (name === " " ? "Space" : name)).join(" "), sign: signOf(names[0]), signs: names.map(signOf) };
  }

  #read() {
    try {
      return JSON.parse(this.storage?.getItem(this.place) ?? "null");
    } catch {
      return null;
    }
  }
}

function safeStorage() {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}
