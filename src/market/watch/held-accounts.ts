import type { Address } from "../../primitives/address.ts";
import type { HeldAccount } from "../live-accounts.ts";

const NONE: readonly Address[] = [];

/**
 * The accounts of one market: a dozen or so. They are requested again and again in the same order, so each search starts after
 * the last hit. That avoids reading the address or a hash table, which mostly miss the processor's caches.
 */
export class HeldAccounts {
  readonly #addresses: Address[] = [];
  readonly #entries: (HeldAccount | undefined)[] = [];
  #next = 0;

  get addresses(): readonly Address[] {
    return this.#addresses;
  }

  get entries(): readonly (HeldAccount | undefined)[] {
    return this.#entries;
  }

  has(address: Address): boolean {
    return this.#addresses.includes(address);
  }

  set(address: Address, entry: HeldAccount | undefined): void {
    const place = this.#addresses.indexOf(address);
    if (place >= 0) this.#entries[place] = entry;
    else {
      this.#addresses.push(address);
      this.#entries.push(entry);
    }
  }

  get(address: Address): HeldAccount | undefined {
    const addresses = this.#addresses;
    const { length } = addresses;
    let place = this.#next;
    for (let looked = 0; looked < length; looked++, place++) {
      if (place >= length) place = 0;
      if (addresses[place] !== address) continue;
      this.#next = place + 1;
      return this.#entries[place];
    }
    return undefined;
  }

  /** Those known not to exist. */
  missing(): readonly Address[] {
    const addresses = this.#addresses;
    let missing = NONE;
    for (let place = 0; place < addresses.length; place++)
      if (this.#entries[place]?.account === null) missing = [...missing, addresses[place]!];
    return missing;
  }

  clear(): void {
    this.#addresses.length = 0;
    this.#entries.length = 0;
    this.#next = 0;
  }
}
