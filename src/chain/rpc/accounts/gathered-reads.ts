import type { Address } from "../../../primitives/address.ts";
import type { AccountsAtSlot } from "../../port.ts";
import { isUnusable } from "../node-error.ts";

interface Waiting {
  readonly addresses: readonly Address[];
  readonly answer: PromiseWithResolvers<AccountsAtSlot>;
}

/** Reads accounts with one call. */
type ReadChunk = (addresses: readonly Address[]) => Promise<AccountsAtSlot>;

/** With more calls in flight than this, reads are gathered for longer. A cold token has four at a time. */
const CALLS_AT_EASE = 12;
/** How long reads then wait for others; reads that may wait always do. Milliseconds. */
const GATHERED_FOR_MS = 5;

/**
 * Shares calls among reads of a few accounts that are asked for in one turn of the event loop: those of a cold token come from several
 * places at once, each with its own handful. While many calls are pending, as after a restart with pairs in use, the reads of five
 * milliseconds share calls. An account that several reads ask for is read once. If a node's answer cannot be used, each read makes a call
 * of its own.
 */
export class GatheredReads {
  readonly #perCall: number;
  readonly #readChunk: ReadChunk;
  #waiting: Waiting[] = [];
  #isNext = false;
  /** Timer after which waiting reads are sent even without others. */
  #patience: NodeJS.Timeout | undefined;
  /** Calls in flight. */
  #calls = 0;

  constructor(perCall: number, readChunk: ReadChunk) {
    this.#perCall = perCall;
    this.#readChunk = readChunk;
  }

  /**
   * Reads the accounts: at most as many as a call can carry.
   * @param mayWait true to wait some milliseconds for another read
   * @throws TradewireError UPSTREAM_ERROR
   */
  read(addresses: readonly Address[], mayWait = false): Promise<AccountsAtSlot> {
    const answer = Promise.withResolvers<AccountsAtSlot>();
    this.#waiting.push({ addresses, answer });
    if (this.#isNext) return answer.promise;
    if (mayWait) {
      this.#patience ??= setTimeout(() => this.#send(), GATHERED_FOR_MS);
      return answer.promise;
    }
    this.#isNext = true;
    if (this.#calls < CALLS_AT_EASE) setImmediate(() => this.#send());
    else setTimeout(() => this.#send(), GATHERED_FOR_MS);
    return answer.promise;
  }

  /** Fills calls in the order of the reads: none is divided between two calls. */
  #send(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.#isNext = false;
    let some: Waiting[] = [];
    let places = new Map<Address, number>();
    for (const one of this.#waiting.splice(0)) {
      let added = 0;
      for (const address of one.addresses) if (!places.has(address)) added += 1;
      if (places.size + added > this.#perCall) {
        void this.#answer(some, places);
        some = [];
        places = new Map();
      }
      some.push(one);
      for (const address of one.addresses) if (!places.has(address)) places.set(address, places.size);
    }
    void this.#answer(some, places);
  }

  async #answer(reads: readonly Waiting[], places: ReadonlyMap<Address, number>): Promise<void> {
    if (reads.length === 0) return;
    this.#calls += 1;
    try {
      const { slot, accounts, node } = await this.#readChunk([...places.keys()]);
      for (const { addresses, answer } of reads)
        answer.resolve({ slot, accounts: addresses.map((address) => accounts[places.get(address)!] ?? null), node });
    } catch (error) {
      // A read of an account that is too large for any answer must not fail the others; an outage fails all of them anyway.
      if (reads.length > 1 && isUnusable(error)) for (const one of reads) void this.#answerAlone(one);
      else for (const { answer } of reads) answer.reject(error);
    } finally {
      this.#calls -= 1;
    }
  }

  #answerAlone(one: Waiting): Promise<void> {
    return this.#answer([one], new Map([...new Set(one.addresses)].map((address, place) => [address, place])));
  }
}
