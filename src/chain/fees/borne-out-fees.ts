import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { maxOf, medianBy, minOf } from "../../primitives/integer.ts";
import { PRIORITY_LEVELS, type Priority } from "../port.ts";
import type { RpcEndpoint } from "../rpc/rpc-endpoint.ts";
import { NO_PRICES, type Prices } from "./fee-samples.ts";
import type { FeeReading, FeeSource } from "./fee-sources.ts";

/** Prices up to this multiple of the confirmed ones are accepted on one node's word. */
const MOST_TIMES = 2n;
/** Prices up to this cost callers next to nothing: they are not checked with other nodes. Micro-lamports per compute unit. */
const NEGLIGIBLE = 1_000n;

/** How long other nodes are not asked again after they had no prices. Milliseconds. */
const ALONE_MS = 10_000;

interface BorneOutFeesOptions {
  readonly now: Now;
  readonly warn: (message: string) => void;
}

/** What one node reports. */
interface Word {
  readonly endpoint: RpcEndpoint;
  readonly reading: FeeReading;
}

/**
 * The prices that one node reports, checked against the others because callers pay them. If a price rises to more than twice the confirmed
 * one, every node is asked, and the median counts (of two, the lower). A node that overstates is no longer asked first.
 */
export class BorneOutFees implements FeeSource {
  readonly #source: FeeSource;
  readonly #endpoints: readonly RpcEndpoint[];
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  /** The last confirmed prices of the chain and of accounts, or lower ones reported since. */
  #ofChain = NO_PRICES;
  readonly #ofAccounts = new WeakMap<Address, Prices>();
  /** Index of the node asked first. */
  #first = 0;
  /** Until when one node's word counts because no other node had prices (epoch milliseconds). */
  #aloneUntilMs = Number.NEGATIVE_INFINITY;

  constructor(source: FeeSource, endpoints: readonly RpcEndpoint[], { now, warn }: BorneOutFeesOptions) {
    this.#source = source;
    this.#endpoints = endpoints;
    this.#now = now;
    this.#warn = warn;
  }

  async read(writable: readonly Address[]): Promise<FeeReading | undefined> {
    const reading = await this.#source.read(writable, { startAt: this.#first });
    if (reading === undefined || this.#endpoints.length === 1) return reading;
    const own = writable[0] === undefined ? NO_PRICES : (this.#ofAccounts.get(writable[0]) ?? NO_PRICES);
    const known = byLevel((level) => maxOf(own[level], this.#ofChain[level]));
    if (!isDearer(reading.prices, known)) {
      this.#keep(
        writable[0],
        byLevel((level) => minOf(reading.prices[level], known[level])),
      );
      return reading;
    }
    const borneOut = this.#now() < this.#aloneUntilMs ? undefined : await this.#bearOut(writable);
    if (borneOut !== undefined) this.#keep(writable[0], borneOut.prices);
    return borneOut ?? reading;
  }

  #keep(account: Address | undefined, prices: Prices): void {
    if (account === undefined) this.#ofChain = prices;
    else this.#ofAccounts.set(account, prices);
  }

  /** What most nodes report; undefined if fewer than two do. */
  async #bearOut(writable: readonly Address[]): Promise<FeeReading | undefined> {
    const settled = await Promise.allSettled(this.#endpoints.map((only) => this.#source.read(writable, { only })));
    const words = settled.flatMap((one, i): Word[] =>
      one.status === "fulfilled" && one.value !== undefined
        ? [{ endpoint: this.#endpoints[i]!, reading: one.value }]
        : [],
    );
    if (words.length < 2) {
      this.#aloneUntilMs = this.#now() + ALONE_MS;
      return undefined;
    }
    const prices = byLevel((level) => medianBy(words, (word) => word.reading.prices[level]).reading.prices[level]);
    const median = medianBy(words, (word) => word.reading.prices.fast);
    const first = words.find(({ endpoint }) => endpoint === this.#endpoints[this.#first]);
    if (first !== undefined && isDearer(first.reading.prices, prices)) this.#passOver(first, words, prices);
    return { prices, samples: median.reading.samples };
  }

  /** From now on asks another node first, one that does not overstate. */
  #passOver(first: Word, words: readonly Word[], prices: Prices): void {
    const next = words.find(({ reading }) => !isDearer(reading.prices, prices))!;
    this.#first = this.#endpoints.indexOf(next.endpoint);
    this.#warn(
      `The Solana node ${first.endpoint.name} reports prices of priority far above those of other nodes ` +
        `(${first.reading.prices.fast}, not ${prices.fast} micro-lamports per compute unit): ${next.endpoint.name} is asked first.`,
    );
  }
}

/** True if some level's price is more than twice the known one. */
function isDearer(prices: Prices, known: Prices): boolean {
  return PRIORITY_LEVELS.some((level) => prices[level] > MOST_TIMES * maxOf(known[level], NEGLIGIBLE));
}

const byLevel = (of: (level: Priority) => bigint): Prices => ({
  economy: of("economy"),
  fast: of("fast"),
  faster: of("faster"),
  fastest: of("fastest"),
});
