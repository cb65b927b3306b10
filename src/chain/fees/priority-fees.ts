import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { maxOf, minOf } from "../../primitives/integer.ts";
import { PRIORITY_LEVELS, type Priority, type PriorityFees } from "../port.ts";
import { isRefusal } from "../rpc/node-error.ts";
import { expectedSlots, NO_PRICES, type Prices } from "./fee-samples.ts";
import type { FeeReading, FeeSource } from "./fee-sources.ts";

/** Bounds of a level's price. Micro-lamports per compute unit. */
interface PriorityBounds {
  readonly floor: bigint;
  readonly cap: bigint;
}

/** Prices of priority that are refreshed until closed. */
export interface LivePriorityFees extends PriorityFees {
  close(): void;
}

interface PriorityFeesOptions {
  /** In order of preference; the first source with data wins. Without data the floors apply. */
  readonly sources: readonly FeeSource[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly bounds: Readonly<Record<Priority, PriorityBounds>>;
  /** Upper bound of accounts read per refresh. */
  readonly accountsPerRefresh?: number;
  /** Number of refreshes within which every account is read, if that bound allows. */
  readonly refreshesPerTurn?: number;
}

/** Prices of writing to one account, when callers last asked about it, and when it was last read (epoch milliseconds). */
interface AccountPrices {
  prices: Prices | undefined;
  askedAtMs: number;
  refreshedAtMs: number;
}

const REFRESH_MS = 2_000;
/** Time without a request after which fees are idle: an account's are forgotten, the chain's are read less often. */
const REST_AFTER_MS = 10_000;
const REST_REFRESH_MS = 10_000;
/** Upper bound of accounts whose own fee market is followed. */
const MAX_ACCOUNTS = 256;
const DEFAULT_ACCOUNTS_PER_REFRESH = 8;
/** Prices cover the last minute: reading an account's every few seconds is as good, with fewer calls. */
const DEFAULT_REFRESHES_PER_TURN = 8;
/** Accounts that are few enough to be read by every refresh. */
const ALWAYS_READ = 2;
/** How many times as often accounts that cost more than the chain are read, if many take turns. */
const DEARER_WEIGHT = 3;
/** Read time of an account that has not been read yet. */
const NEVER = 0;
const NO_READING: FeeReading = { prices: NO_PRICES, samples: [] };

/**
 * Prices from recent fees, of the whole chain or of the writable accounts, whichever is higher, between the level's floor and cap. An
 * account's own prices count from the refresh after the first request for them.
 */
export function createPriorityFees(options: PriorityFeesOptions): LivePriorityFees {
  return new RecentPriorityFees(options);
}

class RecentPriorityFees implements LivePriorityFees {
  readonly #sources: readonly FeeSource[];
  readonly #now: Now;
  readonly #warn: (message: string) => void;
  readonly #bounds: PriorityFeesOptions["bounds"];
  readonly #accountsPerRefresh: number;
  readonly #refreshesPerTurn: number;
  readonly #accounts = new Map<Address, AccountPrices>();
  readonly #timer: NodeJS.Timeout;
  #chain = NO_READING;
  #askedAtMs: number;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isRefreshing = false;
  #isFailing = false;

  constructor(options: PriorityFeesOptions) {
    this.#sources = options.sources;
    this.#now = options.now;
    this.#warn = options.warn;
    this.#bounds = options.bounds;
    this.#accountsPerRefresh = options.accountsPerRefresh ?? DEFAULT_ACCOUNTS_PER_REFRESH;
    this.#refreshesPerTurn = options.refreshesPerTurn ?? DEFAULT_REFRESHES_PER_TURN;
    this.#askedAtMs = this.#now();
    void this.#refresh();
    this.#timer = setInterval(() => void this.#refresh(), REFRESH_MS);
  }

  priceMicroLamportsPerCu(level: Priority, writable: readonly Address[]): bigint {
    this.#askedAtMs = this.#now();
    let price = this.#chain.prices[level];
    for (const address of writable) {
      const account = this.#accounts.get(address);
      if (account === undefined) {
        this.#add(address);
        continue;
      }
      account.askedAtMs = this.#now();
      if (account.prices !== undefined) price = maxOf(price, account.prices[level]);
    }
    return this.#bounded(level, price);
  }

  expectedSlots(level: Priority): number {
    return expectedSlots(this.#chain.samples, this.#bounded(level, this.#chain.prices[level]));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #bounded(level: Priority, price: bigint): bigint {
    const { floor, cap } = this.#bounds[level];
    return minOf(maxOf(price, floor), cap);
  }

  #add(address: Address): void {
    if (this.#accounts.size >= 2 * MAX_ACCOUNTS) return;
    this.#accounts.set(address, { prices: undefined, askedAtMs: this.#now(), refreshedAtMs: NEVER });
  }

  /** Drops accounts that nobody asks about any more and, if there are too many, the least recently asked. */
  #trim(): void {
    for (const [address, { askedAtMs }] of this.#accounts)
      if (this.#now() - askedAtMs > REST_AFTER_MS) this.#accounts.delete(address);
    if (this.#accounts.size <= MAX_ACCOUNTS) return;
    const byAge = [...this.#accounts].sort(([, a], [, b]) => a.askedAtMs - b.askedAtMs);
    for (const [address] of byAge.slice(0, this.#accounts.size - MAX_ACCOUNTS)) this.#accounts.delete(address);
  }

  async #refresh(): Promise<void> {
    const isAtRest = this.#now() - this.#askedAtMs > REST_AFTER_MS;
    if (this.#isRefreshing || (isAtRest && this.#now() - this.#readAtMs < REST_REFRESH_MS)) return;
    this.#isRefreshing = true;
    this.#readAtMs = this.#now();
    this.#trim();
    try {
      this.#chain = await this.#read([]);
      const due = this.#due(this.#readAtMs);
      await Promise.all(
        due.map(async ([address, account]) => {
          account.prices = (await this.#read([address])).prices;
          account.refreshedAtMs = this.#readAtMs;
        }),
      );
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !isRefusal(error))
        this.#warn(`Cannot refresh priority fees; the last known ones stay in use: ${String(error)}`);
      this.#isFailing = true;
    } finally {
      this.#isRefreshing = false;
    }
  }

  /**
   * The accounts to read now: those that have waited longest, accounts that cost more than the chain sooner. Accounts never read come
   * first, but only in half of the places: otherwise a stream of new ones would leave the others at old prices.
   */
  #due(atMs: number): readonly (readonly [Address, AccountPrices])[] {
    const waited = [...this.#accounts].map((entry) => {
      const [, account] = entry;
      const ageMs = atMs - account.refreshedAtMs;
      return { entry, weight: this.#isDearer(account) ? DEARER_WEIGHT * ageMs : ageMs };
    });
    const byWeight = waited.sort((a, b) => b.weight - a.weight).map(({ entry }) => entry);
    const share = Math.max(ALWAYS_READ, Math.ceil(waited.length / this.#refreshesPerTurn));
    const places = Math.min(share, this.#accountsPerRefresh);
    const unread = byWeight.filter(([, { refreshedAtMs }]) => refreshedAtMs === NEVER);
    const read = byWeight.filter(([, { refreshedAtMs }]) => refreshedAtMs !== NEVER);
    const first = unread.slice(0, Math.max(Math.ceil(places / 2), places - read.length));
    return [...first, ...read.slice(0, places - first.length)];
  }

  /** True if writing to the account costs more than the chain does, at any level. */
  #isDearer({ prices }: AccountPrices): boolean {
    return prices !== undefined && PRIORITY_LEVELS.some((level) => prices[level] > this.#chain.prices[level]);
  }

  async #read(writable: readonly Address[]): Promise<FeeReading> {
    let failure: unknown;
    for (const source of this.#sources) {
      try {
        const reading = await source.read(writable);
        if (reading !== undefined) return reading;
      } catch (error) {
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    return NO_READING;
  }
}
