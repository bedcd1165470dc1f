// The line on pages without pairs that says how saving stands; it sends what was left behind in this browser.

import { Api } from "./api.js";
import { make, write } from "./dom.js";
import { OtherCampaigns } from "./other_campaigns.js";
import { IndexedShelf, MemoryShelf } from "./outbox.js";
import { statusOf } from "./status.js";
import { fill } from "./words.js";

const LOOK_AGAIN = 5e3; // ms: another tab may have been closed meanwhile

// onStored() is called when all is saved after something had waited.
export async function mount(parent, data, { onStored = () => {} } = {}) {
  const { base, expert, texts } = data;
  const line = make("span", { class: "status", role: "status" });
  const why = make("span", { class: "why" });
  const root = make("p", { class: "saving" }, line, why);
  let stored = false;
  const otherCampaigns = new OtherCampaigns({
    base, expert,
    shelf: await IndexedShelf.open("").catch(() => new MemoryShelf()),
    post: (campaign, acts) => new Api({ base, campaign, expert, tab: null }).deliver(acts),
    onStored: () => (stored = true),
    onChange: () => {
      const state = otherCampaigns.state();
      const { tone, text } = statusOf({ ...state, unkept: false }, texts.status);
      write(line, text);
      line.dataset.tone = tone;
      write(why, state.refused > 0 ? `${texts.states.refusedBody} ${state.reasons.join(" ")}` : state.signedOut ? fill(texts.states.signedOutBody, { count: state.waiting }) : "");
      root.dataset.waiting = String(state.waiting);
      if (!stored || state.waiting > 0) return;
      stored = false;
      onStored();
    },
  });
  const off = new AbortController();
  const look = () => document.hidden || otherCampaigns.look();
  window.addEventListener("online", look, { signal: off.signal });
  document.addEventListener("visibilitychange", look, { signal: off.signal });
  const asking = setInterval(() => otherCampaigns.state().signedOut || look(), LOOK_AGAIN); // signing in reloads the page
  parent.append(root);
  await otherCampaigns.look();
  return {
    update() {},
    unmount() {
      clearInterval(asking);
      off.abort();
      otherCampaigns.stop();
      root.remove();
    },
  };
}
