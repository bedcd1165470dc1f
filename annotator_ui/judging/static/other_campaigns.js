// What this expert judged in other campaigns and what still waits in this browser, of tabs that are closed:
// another campaign's page, the first page and "My progress" bring it to the server, too.

import { campaignsOf, Outbox, ownerOf } from "./outbox.js";
import { Sender, together } from "./sender.js";

export class OtherCampaigns {
  // shelf: any shelf of this browser; post(campaign, acts) as in Sender; besides: the campaign that looks after itself.
  constructor({ base, expert, shelf, post, besides = null, onChange = () => {}, onStored = () => {}, timing = {} }) {
    Object.assign(this, { base, expert, shelf, post, besides, onChange, onStored, timing, senders: new Map(), stopped: false });
  }

  // Look for what waits, and send it.
  async look() {
    const owners = await this.shelf.owners().catch(() => []); // a browser that keeps nothing holds nothing either
    const there = campaignsOf(owners, this.base, this.expert);
    for (const [campaign, sender] of this.senders) {
      if (there.includes(campaign)) continue;
      sender.stop(); // another tab has brought it all
      this.senders.delete(campaign);
    }
    for (const campaign of there) if (campaign !== this.besides && !this.stopped) await this.#send(campaign);
    this.onChange();
  }

  async #send(campaign) {
    if (!this.senders.has(campaign)) {
      const outbox = new Outbox(this.shelf.of(ownerOf(this.base, this.expert, campaign)));
      const post = (acts) => this.post(campaign, acts);
      this.senders.set(campaign, new Sender({ outbox, post, onChange: () => this.onChange(), onStored: () => this.onStored(), ...this.timing }));
    }
    const sender = this.senders.get(campaign);
    await sender.outbox.load().catch(() => 0);
    if (!this.stopped) sender.kick({ hope: true });
  }

  state() {
    return together([...this.senders.values()].map((sender) => sender.state()));
  }

  stop() {
    this.stopped = true;
    for (const sender of this.senders.values()) sender.stop();
  }
}
