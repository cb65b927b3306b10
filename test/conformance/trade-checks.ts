import { expect, it } from "vitest";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import type { Address } from "../../src/primitives/address.ts";
import { createRandom } from "../../src/primitives/random.ts";
import type { MintPair, SwapMode, Venue } from "../../src/venues/venue.ts";
import type { Svm } from "../support/svm.ts";
import { isWhole } from "../support/whole.ts";
import { WORLD_CLOCK } from "../support/world.ts";
import { judge, readMarket, runTrades, type TradeOutcome } from "./trades.ts";

/** One market of a venue on a chain, to be traded on. */
export interface ConformanceMarket {
  readonly symbol: string;
  readonly market: Address;
  readonly mint: Address;
  readonly quoteMint: Address;
  /** Seed of its trades. */
  readonly seed: number;
}

/** Trades of a venue over all its markets, and how many of them a market must not refuse. */
const TRADES_PER_VENUE = isWhole ? 560 : 80;
const LEAST_TRADES = isWhole ? 500 : 60;

/**
 * Defines the tests of one venue: seeded random trades on its program in the SVM, quoted amount equal to executed amount with
 * no tolerance, and the guard of each trade tried one unit too tight.
 */
export function testTrades(svm: Svm, wallet: Address, venue: Venue, markets: readonly ConformanceMarket[]): void {
  const all: TradeOutcome[] = [];

  it.each(markets)("is exact on $symbol at $market", (market) => {
    const count = Math.ceil(TRADES_PER_VENUE / markets.length);
    const outcomes = tradeOn(svm, wallet, venue, market, count);
    const verdict = judge(outcomes);
    expect(verdict.faults).toEqual([]);
    expect(verdict.trades).toBeGreaterThan(count / 2);
    expect(new Set(outcomes.map(({ mode }) => mode))).toEqual(
      new Set(venue.supports.exactOut ? ["exactIn", "exactOut"] : ["exactIn"]),
    );
    expect(new Set(outcomes.map(({ inMint }) => inMint)).size).toBe(2);
    all.push(...outcomes);
  });

  it(`made at least ${LEAST_TRADES} trades and tried the guard of each`, () => {
    const { trades, maxUnits, maxBytes } = judge(all);
    console.log(`${venue.id}: ${trades} trades, 0 mismatches, up to ${maxUnits} compute units, ${maxBytes} bytes`);
    expect(trades).toBeGreaterThanOrEqual(LEAST_TRADES);
  });
}

function tradeOn(
  svm: Svm,
  wallet: Address,
  venue: Venue,
  { mint, quoteMint, market, seed }: ConformanceMarket,
  count: number,
): TradeOutcome[] {
  const pair = { a: mint, b: quoteMint };
  const most = new Map([mint, quoteMint].map((side) => [side, mostOut(svm, venue, market, side, pair)]));
  return runTrades({
    svm,
    venue,
    market,
    pair,
    wallet,
    random: createRandom(seed),
    count,
    limit: (side, mode) => {
      const largest = most.get(side)!;
      return mode === "exactOut" ? largest.out : largest.in;
    },
    before: () => {
      svm.setTokens(wallet, mint, 1n << 60n);
      svm.setTokens(wallet, quoteMint, 1n << 60n);
    },
  });
}

/** About the most of `side` that the market gives, and about the most it can take: what buys half of the other side. */
function mostOut(
  view: Svm,
  venue: Venue,
  market: Address,
  side: Address,
  pair: MintPair,
): { readonly out: bigint; readonly in: bigint } {
  const { state } = readMarket(view, venue, market, pair);
  const other = side === pair.a ? pair.b : pair.a;
  const quoted = (mode: SwapMode, inMint: Address, outMint: Address, amount: bigint) => {
    try {
      return venue.quote(state, { mode, inMint, outMint, amount, clock: WORLD_CLOCK });
    } catch (error) {
      if (error instanceof TradewireError) return undefined;
      throw error;
    }
  };
  const largest = (outMint: Address, inMint: Address): bigint => {
    let found = 1n;
    for (let bit = 1n << 62n; bit > 0n; bit >>= 1n) {
      const trial = found + bit;
      const quote = quoted("exactOut", inMint, outMint, trial);
      if (quote !== undefined && quote.inAmount < 1n << 60n) found = trial;
    }
    return found;
  };
  const half = quoted("exactOut", side, other, largest(other, side) / 2n);
  return { out: largest(side, other), in: half?.inAmount ?? 1n };
}
