// Texts with values filled in; numbers, times and plurals as the reader's language has them.

let language = "en-GB";
let plurals = new Intl.PluralRules(language);
let decimals = new Intl.NumberFormat(language);

// The language of numbers and times; once, before anything is shown. A text comes in its language already.
export function speak(tag) {
  if (!tag || tag === language) return;
  language = tag;
  plurals = new Intl.PluralRules(language);
  decimals = new Intl.NumberFormat(language);
}

// A text with its {names} filled in. A plural is {by, one, other, ...}: the form is that of the number `by`.
export function fill(text, values) {
  const form = typeof text === "string" ? text : (text[plurals.select(values[text.by] ?? 0)] ?? text.other);
  return form.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? written(values[name]) : whole));
}

// Hours and minutes of a moment.
export function clock(moment) {
  return new Date(moment).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
}

function written(value) {
  return typeof value === "number" ? decimals.format(value) : String(value);
}
