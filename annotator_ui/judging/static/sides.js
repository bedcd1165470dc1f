// One side of a pair: its name, what is known of the product, the picture, and further pictures of the product.

import { make, write } from "./dom.js";
import { fill } from "./words.js";

export class Side {
  // texts; about(name) -> {lines, others} or undefined; urlOf(size, name).
  constructor(role, name, { texts, about, urlOf }) {
    Object.assign(this, { role, texts, about, urlOf, others: [], extra: null });
    this.box = make("div", { class: "box" });
    this.name = make("span", { class: "name", text: name });
    this.lines = make("span", { class: "lines" });
    this.row = make("span", { class: "others", role: "group", "aria-label": fill(texts.page.others, { side: name }) });
    this.figure = make("figure", { class: role }, make("figcaption", {}, make("span", { class: "words" }, this.name, this.lines), this.row), this.box);
  }

  // Put the picture there, and what belongs to its product.
  show(image, picture) {
    this.leave();
    image.alt = this.name.textContent;
    image.draggable = false;
    image.dataset.full = this.urlOf("full", picture);
    if (this.box.firstChild !== image) this.box.replaceChildren(image);
    if (this.picture === picture) return;
    this.picture = picture;
    const known = this.about(picture);
    const lines = (known?.lines ?? []).join(" · ");
    write(this.lines, lines);
    this.lines.title = lines;
    this.others = known?.others ?? [];
    this.row.replaceChildren(...this.others.map((other, place) => make("button", {
      type: "button", class: "other-picture", "aria-pressed": "false", "aria-label": fill(this.texts.page.other, { number: place + 1, side: this.name.textContent }),
      onclick: () => this.turn(place),
    }, make("img", { src: this.urlOf("thumb", other), alt: "", draggable: "false" }))));
  }

  // Show a further picture in place of the one in question, or that one again.
  turn(place) {
    const wanted = this.extra === place ? null : place;
    this.leave();
    if (wanted === null || !this.others[wanted]) return;
    this.extra = wanted;
    this.row.children[wanted].setAttribute("aria-pressed", "true");
    const picture = this.others[wanted];
    this.box.append(make("img", { class: "further", src: this.urlOf("large", picture), alt: "", "data-full": this.urlOf("full", picture), draggable: "false" }));
  }

  leave() {
    this.box.querySelector(".further")?.remove();
    for (const button of this.row.children) button.setAttribute("aria-pressed", "false");
    this.extra = null;
  }
}
