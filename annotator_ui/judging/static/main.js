// Mounts the judging page into the component's own tree.

import { App } from "./app.js";

export async function mount(parent, data) {
  const app = new App(parent, data);
  await app.start();
  return {
    update: (fresh) => app.update(fresh),
    unmount: () => app.unmount(),
  };
}
