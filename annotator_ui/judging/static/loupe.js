// The loupe: the same place of both pictures, magnified. Places are shares of the picture, so that
// they mean the same in pictures of different size.

// Where a picture of its natural size lies in a box that contains it whole.
export function contained(box, natural) {
  const scale = Math.min(box.width / natural.width, box.height / natural.height);
  const width = natural.width * scale;
  const height = natural.height * scale;
  return { left: (box.width - width) / 2, top: (box.height - height) / 2, width, height };
}

// The place below a pointer, as shares from 0 to 1 of the picture.
export function placeAt(x, y, box, natural) {
  const inner = contained(box, natural);
  const share = (value) => Math.min(1, Math.max(0, value));
  return { u: share((x - inner.left) / inner.width), v: share((y - inner.top) / inner.height) };
}

// How the picture must be laid so that the place stands in the middle of the box: the CSS transform of the image.
export function magnified({ u, v }, zoom, box, natural) {
  const inner = contained(box, natural);
  const x = inner.left + u * inner.width;
  const y = inner.top + v * inner.height;
  return { scale: zoom, x: box.width / 2 - x * zoom, y: box.height / 2 - y * zoom };
}

// Take the finer picture as soon as it is there; the coarser one stays until then.
export function sharpen(image, full) {
  if (!full || image.dataset.sharp === full) return;
  image.dataset.sharp = full;
  const finer = new Image();
  finer.src = full;
  finer.decode().then(() => {
    if (image.isConnected) image.src = full;
  }, () => {});
}

// Bind a loupe to boxes that each hold one image; it follows the pointer over any of them while it is held.
export class Loupe {
  constructor(boxes, { zoom = 2.6, fullOf = () => null } = {}) {
    this.boxes = boxes;
    this.zoom = zoom;
    this.fullOf = fullOf;
    this.place = { u: 0.5, v: 0.4 };
    this.held = null; // the boxes that are magnified; which ones these are may change meanwhile
  }

  pointer(event) {
    for (const box of this.boxes()) {
      const frame = box.getBoundingClientRect();
      const image = box.querySelector("img");
      const inside =
        event.clientX >= frame.left && event.clientX <= frame.right && event.clientY >= frame.top && event.clientY <= frame.bottom;
      if (!inside || !image) continue;
      const size = { width: frame.width, height: frame.height };
      const natural = { width: image.naturalWidth || 1, height: image.naturalHeight || 1 };
      this.place = placeAt(event.clientX - frame.left, event.clientY - frame.top, size, natural);
    }
    if (this.held) this.#draw();
  }

  hold() {
    if (this.held) return;
    this.held = this.boxes();
    for (const box of this.held) {
      const image = box.querySelector("img");
      if (image) sharpen(image, this.fullOf(image));
    }
    this.#draw();
  }

  // Whether anything was magnified.
  release() {
    if (!this.held) return false;
    const boxes = this.held;
    this.held = null;
    for (const box of boxes) {
      box.classList.remove("magnified");
      const image = box.querySelector("img");
      if (image) image.style.transform = "";
    }
    return true;
  }

  #draw() {
    for (const box of this.held) {
      const image = box.querySelector("img");
      if (!image) continue;
      const size = { width: box.clientWidth, height: box.clientHeight };
      const natural = { width: image.naturalWidth || 1, height: image.naturalHeight || 1 };
      const { scale, x, y } = magnified(this.place, this.zoom, size, natural);
      box.classList.add("magnified");
      image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    }
  }
}
