import type { Address } from "../../primitives/address.ts";
import type { HeldAccount } from "../live-accounts.ts";

const NONE: readonly Address[] = [];

/**
 * The accounts of one market: a dozen or so. They are requested again and again in the same order, so each search starts after
 * the last hit. That avoids reading the address or a hash table, which mostly miss the processor's caches.
 */
export class HeldAccounts {
  // Made anew when accounts are added: a list that grows keeps room for sixteen more, of each of tens of thousands of markets.
  #addresses: readonly Address[] = NONE;
  #entries: readonly (HeldAccount | undefined)[] = [];
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

  /** Adds accounts, and replaces the entries of those it has. */
  add(addresses: readonly Address[], entryOf: (address: Address) => HeldAccount | undefined): void {
    this.#addresses = [...new Set([...this.#addresses, ...addresses])];
    const added = new Set(addresses);
    this.#entries = this.#addresses.map((one, place) => (added.has(one) ? entryOf(one) : this.#entries[place]));
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
    this.#addresses = NONE;
    this.#entries = [];
    this.#next = 0;
  }
}
