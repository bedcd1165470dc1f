// How long an expert looked at what is on screen: from when it was painted, without the time the tab was hidden.

export class Stopwatch {
  constructor(now = () => performance.now()) {
    this.now = now;
    this.reset();
  }

  reset() {
    this.gathered = 0;
    this.since = null;
    this.started = false;
  }

  // Begin anew; while hidden, the time begins when the tab is seen.
  start(visible = true) {
    this.reset();
    this.started = true;
    if (visible) this.since = this.now();
  }

  setVisible(visible) {
    if (!this.started) return;
    if (visible && this.since === null) this.since = this.now();
    if (!visible && this.since !== null) {
      this.gathered += this.now() - this.since;
      this.since = null;
    }
  }

  seconds() {
    const running = this.since === null ? 0 : this.now() - this.since;
    return Math.max(0, (this.gathered + running) / 1000);
  }
}
