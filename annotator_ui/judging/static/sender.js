// Brings what waits in the outbox to the server: at once, in small batches, again and again until it is confirmed.

export const BATCH = 20;
const PAUSES = [250, 500, 1000, 2000]; // ms between tries, never longer than the last

// The states of several senders as one.
export function together(states) {
  const sum = (name) => states.reduce((total, state) => total + state[name], 0);
  const since = states.map((state) => state.offlineSince).filter((moment) => moment !== null);
  return {
    waiting: sum("waiting"),
    refused: sum("refused"),
    reasons: [...new Set(states.flatMap((state) => state.reasons))],
    offlineSince: since.length > 0 ? Math.min(...since) : null,
    signedOut: states.some((state) => state.signedOut),
  };
}

export class Sender {
  // post(acts) -> {status, body}, rejecting when the server was not reached.
  constructor({ outbox, post, onChange = () => {}, onStandby = () => {}, onStored = () => {}, later, now }) {
    this.outbox = outbox;
    this.post = post;
    this.onChange = onChange;
    this.onStandby = onStandby;
    this.onStored = onStored;
    this.later = later ?? ((action, ms) => setTimeout(action, ms));
    this.now = now ?? (() => Date.now());
    this.refused = new Map(); // token -> why the server will not have it
    this.offlineSince = null;
    this.signedOut = false;
    this.failures = 0;
    this.timer = null;
    this.running = null;
    this.stopped = false;
  }

  state() {
    return {
      waiting: this.outbox.size - this.refused.size,
      refused: this.refused.size,
      reasons: [...new Set(this.refused.values())],
      offlineSince: this.offlineSince,
      signedOut: this.signedOut,
    };
  }

  // Something new waits, or there is reason to hope again (online, visible, signed in).
  kick({ hope = false } = {}) {
    if (this.stopped) return undefined;
    if (hope) this.signedOut = false;
    if (this.timer !== null && (hope || this.offlineSince === null)) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    this.onChange(this.state());
    if (this.timer === null && !this.running && !this.signedOut) {
      this.running = this.#drain().finally(() => {
        this.running = null;
        this.onChange(this.state());
      });
    }
    return this.running;
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  // What would be sent next; with the page going away it is sent once more without waiting for the answer.
  pending(most = BATCH) {
    return this.outbox.waiting().filter((act) => !this.refused.has(act.token)).slice(0, most);
  }

  async #drain() {
    let size = BATCH;
    for (let batch = this.pending(size); batch.length > 0 && !this.stopped; batch = this.pending(size)) {
      let answer;
      try {
        answer = await this.post(batch);
      } catch {
        this.#pause();
        return;
      }
      const { status, body } = answer;
      if (status === 200) {
        this.failures = 0;
        this.offlineSince = null;
        const told = new Set(body.stored);
        const stored = batch.filter((act) => told.has(act.token));
        await this.outbox.remove(stored.map((act) => act.token));
        this.onStored(stored);
        if (body.standby) this.onStandby();
        if (stored.length === 0) {
          this.#pause(); // an answer that confirms nothing must not be asked for without a rest
          return;
        }
        size = BATCH;
      } else if (status === 401) {
        this.signedOut = true;
        return;
      } else if ([400, 403, 404, 413, 422].includes(status)) {
        this.offlineSince = null;
        if (batch.length > 1) size = 1; // one bad act must not hold the others back
        else this.refused.set(batch[0].token, body?.error ?? `status ${status}`);
      } else {
        this.#pause();
        return;
      }
      this.onChange(this.state());
    }
  }

  #pause() {
    this.offlineSince ??= this.now();
    const wait = PAUSES[Math.min(this.failures, PAUSES.length - 1)];
    this.failures += 1;
    this.timer = this.later(() => {
      this.timer = null;
      this.kick();
    }, wait);
  }
}
