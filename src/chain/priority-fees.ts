import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import { maxOf, minOf } from "../primitives/integer.ts";
import type { Priority, PriorityFees } from "./port.ts";
import { isRefusal } from "./rpc-error.ts";
import type { RpcPool } from "./rpc-pool.ts";
import { asInteger, asList, asRecord } from "./rpc-values.ts";

/** Least and most micro-lamports per compute unit asked for a level. */
export interface PriorityBounds {
  readonly floor: bigint;
  readonly cap: bigint;
}

export interface LivePriorityFees extends PriorityFees {
  close(): void;
}

export interface PriorityFeesOptions {
  readonly pool: RpcPool;
  readonly now: Now;
  readonly warn: (message: string) => void;
  readonly bounds: Readonly<Record<Priority, PriorityBounds>>;
  readonly refreshMs?: number;
  /** Accounts whose own fee market is followed, at most. */
  readonly maxAccounts?: number;
  /** Accounts read at each refresh, in turn. */
  readonly accountsPerRefresh?: number;
}

/** Share of recent slots, in percent, in which the level's price would have been enough. */
const PERCENTILE: Readonly<Record<Priority, number>> = { economy: 25, fast: 50, faster: 75, fastest: 95 };
const LEVELS = Object.keys(PERCENTILE) as readonly Priority[];

type Prices = Readonly<Record<Priority, bigint>>;

interface FollowedAccount {
  prices: Prices | undefined;
  askedAtMs: number;
  refreshedAtMs: number;
}

const NOTHING: Prices = { economy: 0n, fast: 0n, faster: 0n, fastest: 0n };
const DEFAULT_REFRESH_MS = 2_000;
const DEFAULT_MAX_ACCOUNTS = 256;
const DEFAULT_ACCOUNTS_PER_REFRESH = 8;

/**
 * Prices from getRecentPrioritizationFees: percentiles over recent slots, of the whole chain and of the accounts written to,
 * whichever is dearer, then held between the level's floor and cap. An account's own prices are known from the refresh after
 * it was first asked about.
 */
export function createPriorityFees({
  pool,
  now,
  warn,
  bounds,
  refreshMs = DEFAULT_REFRESH_MS,
  maxAccounts = DEFAULT_MAX_ACCOUNTS,
  accountsPerRefresh = DEFAULT_ACCOUNTS_PER_REFRESH,
}: PriorityFeesOptions): LivePriorityFees {
  const accounts = new Map<Address, FollowedAccount>();
  let chain: Prices = NOTHING;
  let refreshing = false;
  let failing = false;

  async function fetchPrices(writable: readonly Address[]): Promise<Prices> {
    const samples = await pool.read("getRecentPrioritizationFees", [writable.map(String)]);
    return pricesOf(
      asList(samples, "priority fees").map((sample) =>
        asInteger(asRecord(sample, "priority fees").prioritizationFee, "priority fees"),
      ),
    );
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
      chain = await fetchPrices([]);
      await Promise.all(
        due.map(async ([address, account]) => {
          account.prices = await fetchPrices([address]);
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
      return minOf(maxOf(price, bounds[level].floor), bounds[level].cap);
    },
    close: () => clearInterval(timer),
  };
}

/** The nearest-rank percentile of each level over the samples; nothing for no samples. */
export function pricesOf(samples: readonly bigint[]): Prices {
  if (samples.length === 0) return NOTHING;
  const sorted = samples.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const prices: Record<Priority, bigint> = { ...NOTHING };
  for (const level of LEVELS) prices[level] = sorted[Math.ceil((PERCENTILE[level] / 100) * sorted.length) - 1]!;
  return prices;
}
