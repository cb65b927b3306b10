import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { Intent } from "../intent.ts";

/** Amounts of the exact side that a market of the pair takes, in base units as text; each is left out if none was found. */
export interface NearestAmounts {
  readonly lowerAmount?: string;
  readonly higherAmount?: string;
}

/**
 * Markets asked about the trade itself; one on either side is then asked about at most six amounts. By each, a market that holds too little
 * may be walked to its end.
 */
const MARKETS_ASKED = 2;
const U64_BITS = 64;

/** What a market says of an amount; "other" of one that it refuses whatever the size. */
type Verdict = "taken" | "tooLarge" | "tooSmall" | "other";

/**
 * Amounts below and above the trade's that a market of the pair itself takes, for a trade that is too large for some markets and too small
 * for the others. Each is the trade's, halved or doubled some times: within a factor of two of the nearest, if its market takes all amounts
 * between those too large and those too small for it, and they span a factor of two.
 */
export function nearestAmounts(intent: Intent, pair: PairMarkets, clock: ChainClock): NearestAmounts {
  const { amount } = intent;
  const bits = amount.toString(2).length;
  let lower: bigint | undefined;
  let higher: bigint | undefined;
  for (const market of pair.markets.slice(0, MARKETS_ASKED)) {
    const ask = (asked: bigint) => verdictOf(market, intent, asked, clock);
    const atAmount = ask(amount);
    if (atAmount === "tooLarge") lower ??= nearestTaken(bits, (halved) => amount >> BigInt(halved), ask, atAmount);
    else if (atAmount === "tooSmall")
      higher ??= nearestTaken(U64_BITS + 1 - bits, (doubled) => amount << BigInt(doubled), ask, atAmount);
  }
  return {
    ...(lower === undefined ? {} : { lowerAmount: lower.toString() }),
    ...(higher === undefined ? {} : { higherAmount: higher.toString() }),
  };
}

/** By bisection, the amount of the least number of times, from 1 to below `end`, that is taken; undefined if it finds none. */
function nearestTaken(
  end: number,
  after: (times: number) => bigint,
  ask: (amount: bigint) => Verdict,
  unfit: Verdict,
): bigint | undefined {
  let few = 0;
  let many = end;
  let taken: bigint | undefined;
  while (many - few > 1) {
    const middle = (few + many) >> 1;
    const verdict = ask(after(middle));
    if (verdict === "taken") taken = after(middle);
    if (verdict === unfit) few = middle;
    else many = middle;
  }
  return taken;
}

function verdictOf(
  { venue, state }: HotMarket,
  { inMint, outMint, mode }: Intent,
  amount: bigint,
  clock: ChainClock,
): Verdict {
  const ask = { mode, inMint: inMint.address, outMint: outMint.address, amount, clock, amountsOnly: true };
  try {
    return venue.quote(state, ask).outAmount > 0n ? "taken" : "tooSmall";
  } catch (error) {
    const code = error instanceof TradewireError ? error.code : undefined;
    return code === "INSUFFICIENT_LIQUIDITY" ? "tooLarge" : code === "VALIDATION_ERROR" ? "tooSmall" : "other";
  }
}
