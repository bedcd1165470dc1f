// Which tab goes on: the one that was opened last. The others stand by, and offer to continue here.

const ASK_AGAIN = 20e3; // ms between questions whether another device went on
const TRY_AGAIN = 2e3; // ms while the server is away
const FINAL = [401, 403, 404]; // answers after which asking again is no use until there is hope

export class Claim {
  constructor({ api, owner, tab, onLost }) {
    Object.assign(this, { api, owner, tab, onLost, stopped: false, wanted: null });
    if ("BroadcastChannel" in globalThis) {
      this.channel = new BroadcastChannel("eds-judging"); // tabs of one browser learn of each other at once
      this.channel.onmessage = ({ data }) => data.owner === owner && data.tab !== tab && this.#lose(data.tab);
    }
    this.asking = setInterval(() => this.#ask(), ASK_AGAIN);
  }

  // Go on here: the other tabs are told at once, the server as soon as it can be reached. Resolves when it knows;
  // never, if another tab goes on before that.
  take() {
    this.winner = null;
    this.channel?.postMessage({ owner: this.owner, tab: this.tab });
    return new Promise((resolve) => {
      this.wanted = resolve;
      this.#tell();
    });
  }

  async #tell() {
    const { wanted } = this;
    clearTimeout(this.timer);
    try {
      await this.api.claim(true);
      if (this.wanted !== wanted) {
        // Another tab went on while this claim was under way, and may have been told before it: it has the word.
        if (this.winner) await this.api.claim(true, this.winner).catch(() => {});
        return;
      }
      this.wanted = null;
      wanted();
    } catch (error) {
      if (this.wanted === wanted && !this.stopped && !FINAL.includes(error.status)) this.timer = setTimeout(() => this.#tell(), TRY_AGAIN);
    }
  }

  // The network may be back.
  hope() {
    if (this.wanted && !this.stopped) this.#tell();
  }

  // Another tab goes on.
  yield() {
    this.wanted = null;
    this.api.claimed = false; // what is asked from now on is no word of this tab
    clearTimeout(this.timer);
  }

  #lose(winner = null) {
    this.winner = winner;
    this.yield();
    this.onLost();
  }

  async #ask() {
    if (document.hidden || !this.api.claimed) return;
    const answer = await this.api.claim(false).catch(() => null);
    if (answer?.standby && !this.stopped) this.#lose();
  }

  stop() {
    this.stopped = true;
    this.yield();
    clearInterval(this.asking);
    this.channel?.close();
  }
}
