// The guideline beside the pair: text, examples of this pair's category first, each with its reason, and what is new.

import { make } from "./dom.js";
import { fill } from "./words.js";

export const WIDE = 1000; // px of the window from which on the guideline stands beside the pair
const KINDS = ["positive", "negative", "border"];
const FIRST = { positive: 3, negative: 3, border: 2 }; // examples of the screen before the first pair

// The language that the guideline is written in, if it is known.
function langOf(guideline) {
  return guideline.language || null;
}

// The guideline's text as elements; blocks that are new are marked.
export function proseOf(guideline, dialogs) {
  const tags = { heading: "h3", item: "li", text: "p" };
  const body = make("div", { class: "prose", lang: guideline.blocks.length > 0 ? langOf(guideline) : null });
  for (const { kind, text, fresh } of guideline.blocks) {
    const listed = kind === "item";
    if (listed && body.lastChild?.tagName !== "UL") body.append(make("ul"));
    (listed ? body.lastChild : body).append(make(tags[kind] ?? "p", { class: fresh ? "fresh" : null }, ...(fresh ? [make("span", { class: "badge", lang: document.documentElement.lang, text: dialogs.guideNew })] : []), text));
  }
  if (guideline.blocks.length === 0) body.append(make("p", { text: dialogs.guideNone }));
  return body;
}

// Examples of these kinds, those of the category first; `most` of each kind.
export function examplesOf(guideline, { texts, urlOf, category = "", names, most = {} }) {
  const { dialogs } = texts;
  return KINDS.map((kind) => {
    const ours = guideline.examples.filter((example) => example.kind === kind);
    const found = [...ours.filter(({ category: own }) => own && own === category), ...ours.filter(({ category: own }) => !own || own !== category)].slice(0, most[kind]);
    if (found.length === 0) return null;
    return make("section", { class: "examples" }, make("h3", { text: dialogs[kind] }), make("div", {}, ...found.map((example) =>
      make("figure", { class: "example", "data-category": example.category },
        make("div", { class: "two" }, make("img", { src: urlOf("thumb", example.query), alt: names.query }), make("img", { src: urlOf("thumb", example.candidate), alt: names.candidate })),
        make("figcaption", {}, ...(example.fresh ? [make("span", { class: "badge", text: dialogs.guideNew })] : []), make("span", { class: "reason", lang: example.note ? langOf(guideline) : null, text: example.note || dialogs.noReason }))))));
  }).filter(Boolean);
}

// What was taken out of the version that this expert judged by before.
export function goneOf(guideline, dialogs) {
  if (!guideline.gone?.length) return null;
  return make("section", { class: "gone" }, make("h3", { text: fill(dialogs.guideGone, { version: guideline.since }) }), ...guideline.gone.map((text) => make("p", { lang: langOf(guideline) }, make("del", { text }))));
}

export class Dock {
  // desk: where it stands; parts as for examplesOf.
  constructor({ desk, texts, urlOf, names, guideline, onClose, store = safeStorage(), place }) {
    Object.assign(this, { desk, texts, urlOf, names, guideline, store, place });
    this.examples = make("div", { class: "dock-examples" });
    const close = make("button", { type: "button", class: "tool", onclick: onClose }, make("span", { class: "text", text: texts.page.close }), make("kbd", { text: "G", "aria-hidden": "true" }));
    this.root = make("aside", { class: "dock", hidden: true, "aria-label": texts.dialogs.guideTitle, tabindex: "-1" },
      make("header", {}, make("h2", { text: texts.dialogs.guideTitle }), close),
      guideline.since ? make("p", { class: "quiet", text: fill(texts.dialogs.guideSince, { since: guideline.since, version: guideline.version }) }) : null,
      proseOf(guideline, texts.dialogs), this.examples, goneOf(guideline, texts.dialogs),
      guideline.version ? make("p", { class: "quiet", text: fill(texts.dialogs.guideVersion, { version: guideline.version }) }) : null);
    desk.append(this.root);
    if (guideline.since || this.#read() === "open") this.open();
  }

  get shown() {
    return !this.root.hidden;
  }

  // keep: the next pages open with it, too.
  open({ keep = true } = {}) {
    this.root.hidden = false;
    this.#draw();
    if (keep) this.#write("open");
  }

  close() {
    this.root.hidden = true;
    this.#write("closed");
  }

  // The category of the pair that is shown now.
  follow(category) {
    if (category === this.category) return;
    this.category = category;
    if (this.shown) this.#draw();
  }

  #draw() {
    if (this.drawn === this.category) return;
    this.drawn = this.category;
    this.examples.replaceChildren(...examplesOf(this.guideline, { texts: this.texts, urlOf: this.urlOf, names: this.names, category: this.category }));
    this.root.scrollTop = 0;
  }

  #read() {
    try {
      return this.store?.getItem(this.place);
    } catch {
      return null;
    }
  }

  #write(state) {
    try {
      this.store?.setItem(this.place, state);
    } catch {
      // a full or forbidden storage: the choice holds until the page is left
    }
  }
}

// Before the very first pair: the question, a few examples with their reasons, one button.
export function firstScreen({ guideline, question, texts, urlOf, names, onBegin }) {
  const { dialogs } = texts;
  const begin = make("button", { type: "button", class: "plain strong", text: dialogs.begin, onclick: onBegin });
  return make("div", { class: "first", role: "group", "aria-label": dialogs.guideTitle }, make("h2", { text: question }), proseOf(guideline, dialogs),
    ...examplesOf(guideline, { texts, urlOf, names, most: FIRST }), make("div", { class: "buttons" }, begin));
}

function safeStorage() {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}
