// Which key does what. The expert may choose other keys; each key does one thing.

export const PAIR = {
  different: ["j", "ArrowLeft", "d"], // the left key is the left button; D and S are the keys of before
  unsure: ["u", "ArrowDown"],
  similar: ["k", "ArrowRight", "s"],
  undo: ["z", "Backspace"],
  keep: ["Enter"],
  flag: ["f"],
  loupe: ["l"],
  flicker: ["b"],
  zoomIn: ["+", "="],
  zoomOut: ["-"],
  zoomWhole: ["0"],
  guide: ["g"],
  help: ["?"],
};

export const GRID = {
  toggle: [" "],
  all: ["a"],
  invert: ["i"],
  save: ["Enter"],
  unsure: ["u"],
  undo: ["z", "Backspace"],
  flag: ["f"],
  peek: ["p"],
  loupe: ["l"],
  flicker: ["b"],
  zoomIn: ["+", "="],
  zoomOut: ["-"],
  guide: ["g"],
  help: ["?"],
};
const FORMER = { similar: "s", different: "d" }; // first keys of before, which nobody chose

// A key as it is kept and compared: letters without regard to shift or caps lock.
export function nameOf(key) {
  return key.length === 1 ? key.toLowerCase() : key;
}

// What a press asks for; null for keys of others and for chords such as Ctrl+S.
export function actionOf(event, bindings) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const pressed = nameOf(event.key);
  for (const [action, keys] of Object.entries(bindings)) {
    if (keys.includes(pressed)) return action;
  }
  return null;
}

// The bindings with another first key for one action; null if the key cannot be had.
export function rebound(bindings, action, key) {
  const wanted = nameOf(key);
  if ("toggle" in bindings && /^([0-9]|Arrow.*)$/.test(wanted)) return null; // in a grid they name and reach candidates
  const reserved = ["Escape", "Tab", "Shift", "Control", "Alt", "Meta", "CapsLock", "Dead", "Unidentified", "Process"];
  if (reserved.includes(wanted) || /^F\d+$/.test(wanted)) return null;
  for (const [other, keys] of Object.entries(bindings)) {
    if (other !== action && keys.includes(wanted)) return null;
  }
  const rest = bindings[action].slice(1).filter((one) => one !== wanted);
  return { ...bindings, [action]: [wanted, ...rest] };
}

// Bindings as they were kept: what does not fit today's actions is left out.
export function restored(defaults, kept) {
  let found = defaults;
  if (kept === null || typeof kept !== "object") return found;
  for (const action of Object.keys(defaults)) {
    const key = Array.isArray(kept[action]) ? kept[action][0] : null;
    if (typeof key === "string" && key !== defaults[action][0] && key !== FORMER[action]) found = rebound(found, action, key) ?? found;
  }
  return found;
}

const SIGNS = { ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", " ": "Space", Backspace: "⌫", Enter: "↵" };

// How a key is written on a button.
export function signOf(key) {
  return SIGNS[key] ?? (key.length === 1 ? key.toUpperCase() : key);
}
