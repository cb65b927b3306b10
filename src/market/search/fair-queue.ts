/**
 * A queue that serves addresses in turn and, within each, its keys in turn: however much one of them asks for, the others wait no
 * longer.
 */
export class FairQueue<T> {
  /** In the order of their turns. */
  readonly #addresses = new Map<string, Map<string, T[]>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(address: string, key: string, item: T): void {
    let keys = this.#addresses.get(address);
    if (keys === undefined) {
      keys = new Map();
      this.#addresses.set(address, keys);
    }
    const items = keys.get(key);
    if (items === undefined) keys.set(key, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Takes the next item of the first address and key that may have a turn; both then move to the end of the line. */
  take(mayHaveTurn: (address: string, key: string) => boolean): T | undefined {
    for (const [address, keys] of this.#addresses) {
      for (const key of keys.keys()) if (mayHaveTurn(address, key)) return this.#takeOf(address, key);
    }
    return undefined;
  }

  /** Takes up to `most` items from the addresses that may have turns, one after another. Each address is checked once. */
  takeMany(most: number, mayHaveTurn: (address: string) => boolean): T[] {
    const taken: T[] = [];
    let inTurn = [...this.#addresses.keys()].filter(mayHaveTurn);
    while (inTurn.length > 0 && taken.length < most) {
      for (const address of inTurn.slice(0, most - taken.length)) {
        const [key] = this.#addresses.get(address)!.keys();
        taken.push(this.#takeOf(address, key!));
      }
      inTurn = inTurn.filter((address) => this.#addresses.has(address));
    }
    return taken;
  }

  #takeOf(address: string, key: string): T {
    const keys = this.#addresses.get(address)!;
    const items = keys.get(key)!;
    const item = items.shift()!;
    this.#size -= 1;
    keys.delete(key);
    if (items.length > 0) keys.set(key, items);
    this.#addresses.delete(address);
    if (keys.size > 0) this.#addresses.set(address, keys);
    return item;
  }

  /** Removes an item that has not been taken. */
  remove(address: string, key: string, item: T): void {
    const keys = this.#addresses.get(address);
    const items = keys?.get(key);
    const at = items?.indexOf(item) ?? -1;
    if (keys === undefined || items === undefined || at < 0) return;
    items.splice(at, 1);
    this.#size -= 1;
    if (items.length > 0) return;
    keys.delete(key);
    if (keys.size === 0) this.#addresses.delete(address);
  }

  /** Items of a key at an address. */
  waitingOf(address: string, key: string): number {
    return this.#addresses.get(address)?.get(key)?.length ?? 0;
  }

  /** Items of an address. */
  waitingAt(address: string): number {
    let count = 0;
    for (const items of this.#addresses.get(address)?.values() ?? []) count += items.length;
    return count;
  }

  /** Removes and returns everything. */
  clear(): readonly T[] {
    const all = [...this.#addresses.values()].flatMap((keys) => [...keys.values()].flat());
    this.#addresses.clear();
    this.#size = 0;
    return all;
  }
}
