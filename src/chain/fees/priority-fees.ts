import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { maxOf, minOf } from "../../primitives/integer.ts";
import type { Priority, PriorityFees } from "../port.ts";
import { isRefusal } from "../rpc/node-error.ts";
import { expectedSlots, NO_PRICES, type Prices, type Samples } from "./fee-samples.ts";
import type { FeeReading, FeeSource } from "./fee-sources.ts";

/** Least and most micro-lamports per compute unit asked for a level. */
interface PriorityBounds {
  readonly floor: bigint;
  readonly cap: bigint;
}

export interface LivePriorityFees extends PriorityFees {
  close(): void;
}

interface PriorityFeesOptions {
  /** The best first; the first that knows is believed. None knows: the floors hold. */
  readonly sources: readonly FeeSource[];
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly bounds: Readonly<Record<Priority, PriorityBounds>>;
  readonly refreshMs?: number;
  /** Accounts whose own fee market is followed, at most. */
  readonly maxAccounts?: number;
  /** Accounts read at each refresh, in turn. */
  readonly accountsPerRefresh?: number;
}

/** What is paid for writing to one account, and when it was last asked for and read (epoch milliseconds). */
interface AccountPrices {
  prices: Prices | undefined;
  askedAtMs: number;
  refreshedAtMs: number;
}

const DEFAULT_REFRESH_MS = 2_000;
const DEFAULT_MAX_ACCOUNTS = 256;
const DEFAULT_ACCOUNTS_PER_REFRESH = 8;

/**
 * Prices from what was paid lately, on the whole chain and for the accounts written to, whichever is dearer, then held
 * between the level's floor and cap. An account's own prices are known from the refresh after it was first asked about.
 */
export function createPriorityFees({
  sources,
  now,
  warn,
  bounds,
  refreshMs = DEFAULT_REFRESH_MS,
  maxAccounts = DEFAULT_MAX_ACCOUNTS,
  accountsPerRefresh = DEFAULT_ACCOUNTS_PER_REFRESH,
}: PriorityFeesOptions): LivePriorityFees {
  const accounts = new Map<Address, AccountPrices>();
  let chain: Prices = NO_PRICES;
  let chainSamples: Samples = [];
  let refreshing = false;
  let failing = false;

  async function read(writable: readonly Address[]): Promise<FeeReading> {
    let failure: unknown;
    for (const source of sources) {
      try {
        const reading = await source.read(writable);
        if (reading !== undefined) return reading;
      } catch (error) {
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    return { prices: NO_PRICES, samples: [] };
  }

  function makeRoom(): void {
    if (accounts.size <= maxAccounts) return;
    const byAge = [...accounts].sort(([, a], [, b]) => a.askedAtMs - b.askedAtMs);
    for (const [address] of byAge.slice(0, accounts.size - maxAccounts)) accounts.delete(address);
  }

  async function refresh(): Promise<void> {
    if (refreshing) return;
    refreshing = true;
    makeRoom();
    const due = [...accounts].sort(([, a], [, b]) => a.refreshedAtMs - b.refreshedAtMs).slice(0, accountsPerRefresh);
    try {
      const reading = await read([]);
      chain = reading.prices;
      chainSamples = reading.samples;
      await Promise.all(
        due.map(async ([address, account]) => {
          account.prices = (await read([address])).prices;
          account.refreshedAtMs = now();
        }),
      );
      failing = false;
    } catch (error) {
      if (!failing && !isRefusal(error)) warn(`Cannot refresh priority fees; the last known stay: ${String(error)}`);
      failing = true;
    } finally {
      refreshing = false;
    }
  }

  void refresh();
  const timer = setInterval(() => void refresh(), refreshMs);

  const bounded = (level: Priority, price: bigint) => minOf(maxOf(price, bounds[level].floor), bounds[level].cap);

  return {
    priceMicroLamportsPerCu(level, writable) {
      let price = chain[level];
      for (const address of writable) {
        const account = accounts.get(address);
        if (account === undefined) {
          if (accounts.size < 2 * maxAccounts)
            accounts.set(address, { prices: undefined, askedAtMs: now(), refreshedAtMs: 0 });
          continue;
        }
        account.askedAtMs = now();
        if (account.prices !== undefined) price = maxOf(price, account.prices[level]);
      }
      return bounded(level, price);
    },
    expectedSlots: (level) => expectedSlots(chainSamples, bounded(level, chain[level])),
    close: () => clearInterval(timer),
  };
}
