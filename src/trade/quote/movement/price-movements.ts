import type { ChainHead } from "../../../chain/port.ts";
import type { Markets, SearchCaller } from "../../../market/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import { minOf, U64_MAX } from "../../../primitives/integer.ts";
import { HUB_MINTS } from "../../../solana/hub-mints.ts";
import type { Intent } from "../../intent.ts";
import { priceRoutes } from "../pricing/price-routes.ts";
import { type Snapshot, takeSnapshot } from "../snapshot.ts";
import { type PriceMovement, PriceSeries } from "./price-series.ts";

interface PriceMovementsOptions {
  readonly markets: Markets;
  readonly head: Pick<ChainHead, "clock" | "slotMs">;
  /** A monotonic clock. */
  readonly now: Now;
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  /** The part of the address space that one client owns. */
  readonly networkOf: (address: string) => string;
}

/** Pairs observed at most, each direction and size by itself; with more, the one quoted longest ago is dropped. */
export const MOST_OBSERVED = 64;
/** Of these, pairs that one address alone quotes; a further one replaces one of its own. */
export const MOST_OF_ONE = MOST_OBSERVED / 4;
/** Observation of a pair ends this long after its last quote. Milliseconds. */
const OBSERVED_MS = 10 * 60_000;
/** Slots that a blockhash lives. */
const BLOCKHASH_SLOTS = 150;
/** A smaller output does not show a movement of a ten-thousandth reliably: a larger trade is priced instead. Base units. */
const FINE_OUTPUT = 1_000_000n;
/** Trades are observed at powers of this many base units. */
const SIZE_STEP = 16n;

/** Of a quote. Base units. */
interface QuotedAmounts {
  readonly inAmount: bigint;
  readonly outAmount: bigint;
}

interface Observed {
  /** The trade that is priced again and again. */
  readonly intent: Intent;
  readonly series: PriceSeries;
  quotedAtMs: number;
  /** The one network that quotes it; undefined once another one has, or if it is not known. */
  network: string | undefined;
}

/**
 * Observes the prices of pairs that are being quoted, from memory: what a trade of about the quoted size would give on its best
 * single path. Callers share what is observed, so none of them chooses the size, and none takes the place of what others quote.
 * Bounded in pairs, prices and work; a build never comes here.
 */
export class PriceMovements {
  readonly #options: PriceMovementsOptions;
  /** In the order of the last quote. */
  readonly #observed = new Map<string, Observed>();
  #isObserving = false;

  constructor(options: PriceMovementsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#observed.size;
  }

  /** Notes a quote and returns how the price has moved so far. Without a caller, the quote counts as shared. */
  note(intent: Intent, amounts: QuotedAmounts, caller?: Pick<SearchCaller, "peer">): PriceMovement {
    const { head, now, networkOf } = this.#options;
    const network = caller && networkOf(caller.peer);
    const size = observedSize(amounts);
    const key = `${intent.inMint.address} ${intent.outMint.address} ${size}`;
    const quotedAtMs = now();
    const entry: Observed = this.#observed.get(key) ?? {
      intent: unbounded(intent, size),
      series: new PriceSeries(),
      quotedAtMs,
      network,
    };
    entry.quotedAtMs = quotedAtMs;
    if (entry.network !== network) entry.network = undefined;
    this.#observed.delete(key);
    this.#observed.set(key, entry);
    this.#makeRoom(entry.network);
    return entry.series.movementOver(BLOCKHASH_SLOTS * head.slotMs());
  }

  /** Drops what was quoted longest ago: of the address alone if it has more than its places, of all if they are full. */
  #makeRoom(network: string | undefined): void {
    const all = this.#observed;
    const own = network === undefined ? [] : [...all.keys()].filter((key) => all.get(key)!.network === network);
    if (own.length > MOST_OF_ONE) all.delete(own[0]!);
    else if (all.size > MOST_OBSERVED) all.delete(all.keys().next().value!);
  }

  /** Prices every observed pair once. A call while one runs does nothing. */
  async observe(): Promise<void> {
    if (this.#isObserving) return;
    this.#isObserving = true;
    try {
      for (const [key, entry] of [...this.#observed]) {
        if (entry.quotedAtMs + OBSERVED_MS < this.#options.now()) this.#observed.delete(key);
        else this.#price(entry);
        await this.#options.pause();
      }
    } finally {
      this.#isObserving = false;
    }
  }

  #price({ intent, series }: Observed): void {
    const { markets, head, now } = this.#options;
    try {
      const snapshot = knownSnapshot(markets, intent);
      if (snapshot === undefined) return;
      let best = 0n;
      for (const { outAmount } of priceRoutes(intent, snapshot.direct, snapshot.hubs, head.clock(), 1).routes)
        if (outAmount > best) best = outAmount;
      series.add(now(), Number(best));
    } catch {
      // Without a fresh state there is no price; the gap shows in the samples.
    }
  }
}

/** The snapshot of a pair without a search that a caller would wait for: a pair that trades over hubs alone is empty itself. */
function knownSnapshot(markets: Markets, { inMint, outMint }: Intent): Snapshot | undefined {
  const knownMarkets: Markets["knownMarkets"] = (pair) => markets.knownMarkets(pair);
  const direct = knownMarkets({ a: inMint.address, b: outMint.address });
  if (direct === undefined || direct === "late") return undefined;
  const mint: Markets["mint"] = (address) => markets.mint(address);
  const memory = { knownMarkets, mint, marketsOf: () => direct };
  const { hubMints = HUB_MINTS } = markets;
  const hubsOf: Markets["hubsOf"] = (pair) => markets.hubsOf?.(pair) ?? { mints: hubMints, isKnown: true };
  return takeSnapshot({ ...memory, hubsOf }, inMint.address, outMint.address);
}

/** The size at which a trade is observed: the next round one below it, or the least whose output shows how the price moves. */
function observedSize({ inAmount, outAmount }: QuotedAmounts): bigint {
  let size = 1n;
  while (size * SIZE_STEP <= inAmount || size * outAmount < inAmount * FINE_OUTPUT) {
    size *= SIZE_STEP;
    if (size > U64_MAX) break;
  }
  return minOf(size, U64_MAX);
}

/** The trade as it is observed: exact input, at the prices themselves. */
function unbounded({ inMint, outMint }: Intent, amount: bigint): Intent {
  return { inMint, outMint, mode: "exactIn", amount, slippagePpb: 0n, emptied: undefined };
}
