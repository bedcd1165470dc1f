// What each key does, on the page that explains them: as this person has chosen them in this browser.

import { Bindings } from "./bindings.js";
import { HELD } from "./dialogs.js";
import { make } from "./dom.js";
import { signOf } from "./keys.js";
import { fill } from "./words.js";

export async function mount(parent, data) {
  const { actions, dialogs } = data.texts;
  const { current } = new Bindings(data.expert);
  const row = ([action, keys]) => make("tr", {},
    make("th", { scope: "row" }, ...keys.map((key) => make("kbd", { text: signOf(key) }))),
    make("td", { text: HELD.includes(action) ? fill(dialogs.helpHold, { action: actions[action] }) : actions[action] }));
  const list = (title, about, bindings) => make("section", {},
    make("h3", { text: title }), make("table", {}, make("tbody", {}, ...Object.entries(bindings).map(row))), make("p", { text: about }));
  const root = make("div", { class: "key-list" },
    list(dialogs.helpPair, dialogs.helpTouch, current.pair), list(dialogs.helpPage, dialogs.helpGrid, current.grid),
    make("p", { class: "change", text: fill(dialogs.helpChange, { key: signOf(current.pair.help[0]) }) }));
  parent.append(root);
  return { update() {}, unmount: () => root.remove() };
}
