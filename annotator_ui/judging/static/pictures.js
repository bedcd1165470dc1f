// Pictures ahead of time: fetched and decoded before they are wanted, a few at once so that judgements get through.

const AT_ONCE = 4;
const PAUSES = [500, 1000, 2000, 2000];

export class Pictures {
  // check(url) -> status of a picture that did not load, 0 where nothing answered.
  constructor({ make = () => new Image(), check, later = (action, ms) => setTimeout(action, ms), onBroken = () => {} }) {
    this.make = make;
    this.check = check;
    this.later = later;
    this.onBroken = onBroken;
    this.known = new Map(); // url -> {url, image, state, waiters, tries}
    this.line = [];
    this.busy = 0;
    this.begun = false;
    this.first = new Set();
  }

  // Keep exactly these, in this order of need; others are forgotten. As long as nothing has been shown, what is not one
  // of `first` waits for those: a slow connection brings the first pair, and nothing beside it. Later all come at once.
  want(urls, first = []) {
    if (!this.begun) this.first = new Set(first);
    const wanted = new Set(urls);
    for (const [url, one] of this.known) {
      if (wanted.has(url)) continue;
      this.known.delete(url);
      if (one.state === "loading") one.image.src = "";
      one.settle(false);
    }
    this.line = [];
    for (const url of wanted) {
      if (!this.known.has(url)) this.known.set(url, fresh(url));
      if (this.known.get(url).state === "new") this.line.push(this.known.get(url));
    }
    this.#next();
  }

  // The decoded image; null as long as it is not ready.
  ready(url) {
    const one = this.known.get(url);
    return one?.state === "ready" ? one.image : null;
  }

  isBroken(url) {
    return this.known.get(url)?.state === "broken";
  }

  // Resolves to whether the picture is decoded (false: broken, or no longer wanted).
  whenReady(url) {
    return this.known.get(url)?.settled ?? Promise.resolve(false);
  }

  // Decode again what comes next: browsers drop decoded pictures that nobody looked at.
  refresh(urls) {
    for (const url of urls) this.ready(url)?.decode?.().catch(() => {});
  }

  retry() {
    for (const one of this.known.values()) {
      if (one.state !== "broken") continue;
      Object.assign(one, fresh(one.url));
      this.line.push(one);
    }
    this.#next();
  }

  #next() {
    while (this.busy < AT_ONCE && this.line.length > 0) {
      if (!this.begun && !this.first.has(this.line[0].url)) {
        if ([...this.first].some((url) => this.known.get(url)?.state === "loading")) return;
        this.begun = true;
      }
      const one = this.line.shift();
      if (this.known.get(one.url) !== one || one.state !== "new") continue;
      this.busy += 1;
      this.#load(one).finally(() => {
        this.busy -= 1;
        this.#next();
      });
    }
  }

  async #load(one) {
    one.state = "loading";
    one.image = this.make();
    one.image.decoding = "async";
    one.image.src = one.url;
    try {
      await one.image.decode();
      if (!(one.image.naturalWidth > 0)) throw new Error("empty");
      one.state = "ready";
      one.settle(true);
    } catch {
      if (this.known.get(one.url) !== one) return;
      const status = await this.check(one.url);
      if (this.known.get(one.url) !== one) return;
      const pause = PAUSES[Math.min(one.tries, PAUSES.length - 1)];
      one.tries += 1;
      const hopeless = [403, 404, 410].includes(status) || (status === 200 && one.tries >= 3);
      one.state = hopeless ? "broken" : "waiting";
      if (hopeless) {
        one.settle(false);
        this.onBroken(one.url);
        return;
      }
      this.later(() => {
        if (this.known.get(one.url) !== one || one.state !== "waiting") return;
        one.state = "new";
        this.line.unshift(one);
        this.#next();
      }, pause);
    }
  }
}

function fresh(url) {
  const one = { url, image: null, state: "new", tries: 0 };
  one.settled = new Promise((resolve) => {
    one.settle = resolve;
  });
  return one;
}

// Why a picture did not load: the status of asking once more; 0 where nothing answered.
export async function checkPicture(url) {
  try {
    return (await fetch(url, { credentials: "same-origin", signal: AbortSignal.timeout(10e3) })).status;
  } catch {
    return 0;
  }
}
