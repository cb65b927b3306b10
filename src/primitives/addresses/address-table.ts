import { type Address, keepAt, keptAt, type Place } from "../address.ts";

/** A value that knows the table it is in; undefined if it is in none. */
export interface Tabled {
  readonly table: object | undefined;
}

/**
 * A map by address for what every build looks up. Each address holds its own value, so that a look-up reads neither a hash nor a
 * table, which mostly miss the processor's caches. If several tables have the same place, an address holds the value that was set
 * last; the other tables find theirs in a map.
 */
export class AddressTable<V extends Tabled> implements Iterable<[Address, V]> {
  readonly #place: Place;
  readonly #values = new Map<Address, V>();

  /** @param place where addresses hold the values: one that only tables use */
  constructor(place: Place) {
    this.#place = place;
  }

  get size(): number {
    return this.#values.size;
  }

  get(address: Address): V | undefined {
    const kept = keptAt(address, this.#place) as Tabled | undefined;
    return kept !== undefined && kept.table === this ? (kept as V) : this.#values.get(address);
  }

  /** @param value one whose `table` is this table */
  set(address: Address, value: V): void {
    this.#values.set(address, value);
    keepAt(address, this.#place, value);
  }

  delete(address: Address): void {
    this.#values.delete(address);
    this.#take(address);
  }

  /** Takes its values from the addresses, so that the table can be collected. It goes on to answer, from its map. */
  detach(): void {
    for (const address of this.#values.keys()) this.#take(address);
  }

  /** In the order in which the addresses were first set. */
  keys(): MapIterator<Address> {
    return this.#values.keys();
  }

  values(): MapIterator<V> {
    return this.#values.values();
  }

  [Symbol.iterator](): MapIterator<[Address, V]> {
    return this.#values.entries();
  }

  #take(address: Address): void {
    const kept = keptAt(address, this.#place) as Tabled | undefined;
    if (kept?.table === this) keepAt(address, this.#place, undefined);
  }
}
