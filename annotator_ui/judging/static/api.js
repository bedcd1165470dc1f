// The server's routes as the page uses them. An answer that is not ours (a proxy's page, Streamlit's index) is no answer.

const PATIENCE = 10e3; // ms

export class HttpError extends Error {
  constructor(status, body) {
    super(body?.error ?? `status ${status}`);
    this.status = status;
  }
}

export class Api {
  constructor({ base, campaign, expert, tab, fetch = (...parts) => globalThis.fetch(...parts) }) {
    this.home = `${base}/api/campaigns/${campaign}`;
    this.expert = expert;
    this.tab = tab;
    this.claimed = false; // this tab asked to go on, and the server knows
    this.claims = 0; // how often it asked
    this.fetch = fetch;
  }

  async tasks(count, skip) {
    const answer = await this.#get(`/next?count=${count}${this.#claim()}&skip=${skip}`);
    return { ...answer, units: answer.tasks.map((task) => ({ kind: "pair", tasks: [task] })) };
  }

  // Pages of a grid; what is to be shown as pairs (repeats) comes one by one.
  async pages(count, size, skip) {
    const answer = await this.#get(`/pages?pages=${count}&size=${size}${this.#claim()}&skip=${skip}`);
    const units = answer.pages.flatMap((page) =>
      page[0].mode === "grid" ? [{ kind: "grid", tasks: page }] : page.map((task) => ({ kind: "pair", tasks: [task] })));
    return { ...answer, units };
  }

  history(count, only = null) {
    return this.#get(`/history?count=${count}${only === null ? "" : `&only=${only}`}`);
  }

  // `tab`: another tab of this browser, for which this one speaks.
  async claim(take, tab = this.tab) {
    if (take && tab === this.tab) {
      this.claims += 1;
      this.claimed = false;
    }
    const { status, body } = await this.#post("/tab", { tab, expert: this.expert, take });
    if (status !== 200) throw new HttpError(status, body);
    this.claimed ||= take && tab === this.tab;
    return body;
  }

  #claim() {
    return this.claimed ? `&tab=${encodeURIComponent(this.tab)}` : "";
  }

  // Acts of the outbox; resolves to {status, body} of whatever the server says.
  deliver(acts, options = {}) {
    return this.#post("/judgements", this.parcel(acts), options);
  }

  parcel(acts) {
    const judgements = [];
    const flags = [];
    const withdrawals = [];
    for (const { token, assignment, value, seconds, mode, guideline, aspects, grade, note, reason, withdraws } of acts) {
      if (withdraws !== undefined) withdrawals.push({ token, assignment, flag: withdraws });
      else if (reason !== undefined) flags.push({ token, assignment, reason });
      else judgements.push({ token, assignment, value, seconds, mode, guideline, aspects, grade, note });
    }
    return { tab: this.tab, expert: this.expert, judgements, ...(flags.length > 0 ? { flags } : {}), ...(withdrawals.length > 0 ? { withdrawals } : {}) };
  }

  async #get(path) {
    const { status, body } = await this.#ask(path, { headers: { accept: "application/json" } });
    if (status !== 200) throw new HttpError(status, body);
    return body;
  }

  #post(path, content, options = {}) {
    const headers = { "content-type": "application/json", accept: "application/json", "x-eds": "1" };
    return this.#ask(path, { method: "POST", headers, body: JSON.stringify(content), ...options });
  }

  async #ask(path, options) {
    const { claimed, claims } = this;
    const signal = options.keepalive ? undefined : AbortSignal.timeout(PATIENCE);
    const answer = await this.fetch(this.home + path, { credentials: "same-origin", referrerPolicy: "no-referrer", signal, ...options });
    const json = (answer.headers.get("content-type") ?? "").includes("json");
    if (answer.ok && !json) throw new TypeError("this is not our server");
    const body = json ? await answer.json() : null;
    // What was asked before this tab's claim tells of the tab before it: no news.
    if (body && path !== "/tab" && (!claimed || claims !== this.claims)) body.standby = false;
    return { status: answer.status, body };
  }
}
