import type { Address } from "../../primitives/address.ts";

/** Requests tracked separately: more than are made in a slot. Beyond that, the oldest takes effect with the next one. */
const MAX_REQUESTS = 64;

/** Accounts requested together, not known to be covered yet. */
interface CoverageRequest {
  readonly generation: number;
  readonly addresses: Set<Address>;
}

/**
 * The accounts of one stream, and which requests have yet to take effect. Requests are numbered by generation; updates name
 * the generation they were sent under.
 */
export class Coverage {
  readonly addresses = new Set<Address>();
  /** Accounts that the next request adds. */
  #fresh = new Set<Address>();
  #requests: CoverageRequest[] = [];
  #generation = 0;

  add(address: Address): void {
    this.addresses.add(address);
    this.#fresh.add(address);
  }

  /** An earlier request does not cover an account that is added again: the server may leave out changes in between. */
  delete(address: Address): void {
    this.addresses.delete(address);
    this.#fresh.delete(address);
    for (const { addresses } of this.#requests) addresses.delete(address);
  }

  /** Starts a request for all accounts. @returns its generation */
  request(): number {
    this.#generation += 1;
    this.#requests.push({ generation: this.#generation, addresses: this.#fresh });
    this.#fresh = new Set();
    if (this.#requests.length > MAX_REQUESTS)
      for (const address of this.#requests.shift()!.addresses) this.#requests[0]!.addresses.add(address);
    return this.#generation;
  }

  /** Updates of this generation have begun to arrive. @returns the accounts covered from now on, request by request */
  takeEffect(generation: number): readonly (readonly Address[])[] {
    const covered: (readonly Address[])[] = [];
    while (this.#requests[0] !== undefined && this.#requests[0].generation <= generation) {
      const { addresses } = this.#requests.shift()!;
      if (addresses.size > 0) covered.push([...addresses]);
    }
    return covered;
  }

  /** The connection is lost: accounts not covered yet are requested again. */
  requeue(): void {
    this.#fresh = this.#pending();
    this.#requests = [];
  }

  /** Every account is to be requested again. */
  requeueAll(): void {
    this.#fresh = new Set(this.addresses);
  }

  /** The covered accounts: neither waiting to be requested nor in a pending request. */
  covered(): readonly Address[] {
    const pending = this.#pending();
    return pending.size === 0 ? [...this.addresses] : [...this.addresses].filter((address) => !pending.has(address));
  }

  #pending(): Set<Address> {
    return new Set([...this.#fresh, ...this.#requests.flatMap(({ addresses }) => [...addresses])]);
  }
}
