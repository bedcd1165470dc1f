// Which tab goes on: the one that was opened last. The others stand by, and offer to continue here.

const ASK_AGAIN = 20e3; // ms between questions whether another device went on
const TRY_AGAIN = 2e3; // ms while the server is away

export class Claim {
  constructor({ api, owner, tab, onLost }) {
    Object.assign(this, { api, owner, tab, onLost, stopped: false });
    if ("BroadcastChannel" in globalThis) {
      this.channel = new BroadcastChannel("eds-judging"); // tabs of one browser learn of each other at once
      this.channel.onmessage = ({ data }) => data.owner === owner && data.tab !== tab && this.onLost();
    }
    this.asking = setInterval(() => this.#ask(), ASK_AGAIN);
  }

  // Go on here; resolves when the server knows.
  async take() {
    this.channel?.postMessage({ owner: this.owner, tab: this.tab });
    await this.api.claim(true);
  }

  // The same without waiting: asked again for as long as the server is away.
  takeSoon() {
    this.take().catch(() => {
      if (!this.stopped) setTimeout(() => this.stopped || this.api.claimed || this.takeSoon(), TRY_AGAIN);
    });
  }

  async #ask() {
    if (document.hidden || !this.api.claimed) return;
    const answer = await this.api.claim(false).catch(() => null);
    if (answer?.standby && !this.stopped) this.onLost();
  }

  stop() {
    this.stopped = true;
    clearInterval(this.asking);
    this.channel?.close();
  }
}
