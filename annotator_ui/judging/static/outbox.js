// Judgements that the server has not confirmed yet, kept in this browser across reloads and outages.
// An owner (deployment, expert, campaign) sees only its own: browser profiles are shared by people.

const DATABASE = "eds-judgements";
const SHELF = "acts";

export function ownerOf(base, expert, campaign) {
  return JSON.stringify([base, expert, campaign]);
}

// The campaigns of these owners that are this expert's in this deployment.
export function campaignsOf(owners, base, expert) {
  const found = new Set();
  for (const owner of owners) {
    const [kept, judged, campaign] = JSON.parse(owner);
    if (kept === base && judged === expert) found.add(campaign);
  }
  return [...found];
}

export class Outbox {
  constructor(shelf) {
    this.shelf = shelf;
    this.acts = new Map(); // token -> act, in the order in which they were judged
    this.onTrouble = () => {};
  }

  // Everything that an earlier page of this owner left behind.
  async load() {
    const kept = await this.shelf.all();
    kept.sort((a, b) => a.at - b.at || a.turn - b.turn);
    for (const act of kept) if (!this.acts.has(act.token)) this.acts.set(act.token, act);
    return kept.length;
  }

  get size() {
    return this.acts.size;
  }

  waiting() {
    return [...this.acts.values()];
  }

  assignments() {
    return [...new Set(this.waiting().map((act) => act.assignment))];
  }

  // Resolves when the acts are kept. They count (and are sent) even where the browser can keep nothing.
  async add(acts) {
    for (const act of acts) this.acts.set(act.token, act);
    try {
      await this.shelf.put(acts);
    } catch (error) {
      this.onTrouble(error);
    }
  }

  // The server has them.
  async remove(tokens) {
    for (const token of tokens) this.acts.delete(token);
    try {
      await this.shelf.drop(tokens);
    } catch (error) {
      this.onTrouble(error); // sent again after a reload, and known to the server by its token
    }
  }
}

export class MemoryShelf {
  constructor() {
    this.kept = new Map();
  }

  async all() {
    return [...this.kept.values()];
  }

  async put(acts) {
    for (const act of acts) this.kept.set(act.token, act);
  }

  async drop(tokens) {
    for (const token of tokens) this.kept.delete(token);
  }

  async owners() {
    return [];
  }
}

export class IndexedShelf {
  constructor(database, owner) {
    this.database = database;
    this.owner = owner;
  }

  // Whoever has something in this browser.
  owners() {
    return new Promise((resolve, reject) => {
      const request = this.database.transaction(SHELF).objectStore(SHELF).getAllKeys();
      request.onsuccess = () => resolve([...new Set(request.result.map(([owner]) => owner))]);
      request.onerror = () => reject(request.error);
    });
  }

  // The shelf of another owner in the same database.
  of(owner) {
    return new IndexedShelf(this.database, owner);
  }

  static open(owner, factory = globalThis.indexedDB) {
    return new Promise((resolve, reject) => {
      const request = factory.open(DATABASE, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(SHELF, { keyPath: ["owner", "token"] });
      request.onsuccess = () => {
        const database = request.result;
        database.onversionchange = () => database.close();
        resolve(new IndexedShelf(database, owner));
      };
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error("another tab holds an older database"));
    });
  }

  all() {
    return new Promise((resolve, reject) => {
      const range = IDBKeyRange.bound([this.owner], [this.owner, []]);
      const request = this.database.transaction(SHELF).objectStore(SHELF).getAll(range);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  put(acts) {
    return this.#change((store) => acts.forEach((act) => store.put({ ...act, owner: this.owner })));
  }

  drop(tokens) {
    return this.#change((store) => tokens.forEach((token) => store.delete([this.owner, token])));
  }

  #change(action) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(SHELF, "readwrite", { durability: "strict" });
      action(transaction.objectStore(SHELF));
      transaction.oncomplete = () => resolve();
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  }
}
