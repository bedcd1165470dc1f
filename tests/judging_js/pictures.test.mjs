import assert from "node:assert/strict";
import { test } from "node:test";

import { Pictures } from "../../annotator_ui/judging/static/pictures.js";

// Images that decode when the test says so.
function studio({ status = 0 } = {}) {
  const images = [];
  const later = [];
  const pictures = new Pictures({
    make: () => {
      const image = { naturalWidth: 10, src: "" };
      image.decode = () => new Promise((resolve, reject) => Object.assign(image, { resolve, reject }));
      images.push(image);
      return image;
    },
    check: async () => status,
    later: (action, ms) => later.push({ action, ms }),
  });
  return { pictures, images, later };
}
const settle = () => new Promise((resolve) => setTimeout(resolve, 2));

test("a few at once, in the order of need", async () => {
  const { pictures, images } = studio();
  pictures.want(["a", "b", "c", "d", "e", "f"]);
  assert.deepEqual(images.map((image) => image.src), ["a", "b", "c", "d"]);
  images[1].resolve();
  await settle();
  assert.deepEqual(images.map((image) => image.src), ["a", "b", "c", "d", "e"]);
  assert.equal(pictures.ready("b"), images[1]);
  assert.equal(pictures.ready("a"), null);
});

test("what is shown first has the connection for itself, and later all come at once", async () => {
  const { pictures, images } = studio();
  pictures.want(["a", "b", "c", "d"], ["a", "b"]);
  assert.deepEqual(images.map((image) => image.src), ["a", "b"]);
  images[0].resolve();
  await settle();
  assert.equal(images.length, 2);
  images[1].reject(new Error("decode")); // one that is to be tried again holds nothing up
  await settle();
  assert.deepEqual(images.map((image) => image.src), ["a", "b", "c", "d"]);
  pictures.want(["c", "d", "e"], ["e"]); // what is shown next may be late: what follows it does not wait
  pictures.want(["e", "f"], ["e"]);
  assert.ok(["e", "f"].every((url) => images.some((image) => image.src === url)));
});

test("a rejected decode is not a painted picture: it is tried again", async () => {
  const { pictures, images, later } = studio();
  pictures.want(["a"]);
  images[0].reject(new Error("decode"));
  await settle();
  assert.equal(pictures.ready("a"), null);
  assert.equal(pictures.isBroken("a"), false);
  later[0].action();
  images[1].resolve();
  assert.equal(await pictures.whenReady("a"), true);
});

test("an empty picture is none", async () => {
  const { pictures, images } = studio();
  pictures.want(["a"]);
  images[0].naturalWidth = 0;
  images[0].resolve();
  await settle();
  assert.equal(pictures.ready("a"), null);
});

test("a picture that the server does not have is broken at once, until it is asked for again", async () => {
  const { pictures, images } = studio({ status: 404 });
  pictures.want(["a"]);
  images[0].reject(new Error("load"));
  assert.equal(await pictures.whenReady("a"), false);
  assert.equal(pictures.isBroken("a"), true);
  pictures.retry();
  images[1].resolve();
  assert.equal(await pictures.whenReady("a"), true);
});

test("what is no longer wanted is forgotten, and what is stays loaded", async () => {
  const { pictures, images } = studio();
  pictures.want(["a", "b"]);
  images[0].resolve();
  await settle();
  pictures.want(["a"]);
  assert.equal(images[1].src, "");
  assert.equal(pictures.ready("a"), images[0]);
  pictures.want(["b"]);
  assert.equal(pictures.ready("a"), null);
});
