import { minOf, U64_MAX } from "../../../primitives/integer.ts";
import { maximumIn } from "../../../primitives/slippage.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Quote, Venue } from "../../../venues/venue.ts";
import type { Candidate } from "../ranking.ts";

/** The part of a swap's output that a later market may take: the bound, or less if the program rounds down after checking it. */
export function leastPassed(venue: Venue, quote: Quote, threshold: bigint): bigint {
  return venue.leastArriving === undefined ? threshold : minOf(threshold, venue.leastArriving(quote, threshold));
}

/**
 * The second market of a pair, quoted on the state that the first one's trade leaves. A candidate itself if the first changes
 * nothing that it depends on. Undefined if the two are one market, or the second cannot make the trade any more.
 *
 * @param amount of the exact side of the second market
 */
export function quoteAfter(
  first: Candidate,
  second: Candidate,
  amount: bigint,
  clock: ChainClock,
): Candidate | undefined {
  if (first.hot.market.address === second.hot.market.address) return undefined;
  const { venue, state } = second.hot;
  if (first.hot.venue !== venue || venue.after === undefined) return second;
  try {
    const after = venue.after(first.hot.state, first.quote, state);
    if (after === state) return second;
    const { mode, inMint, outMint } = second.quote;
    return { hot: second.hot, quote: venue.quote(after, { mode, inMint, outMint, amount, clock }) };
  } catch {
    return undefined;
  }
}

/** Rounds for two markets that affect each other to agree: each round moves the amount between them by a few units at most. */
const ROUNDS = 4;

interface ExactOutPair {
  /** Share of the amount between the markets by which it may grow. Billionths. */
  readonly share: bigint;
  /** The most the second market may take, and what the first one buys. */
  readonly passed: bigint;
  /** The output of the second market. */
  readonly amount: bigint;
  readonly clock: ChainClock;
}

/**
 * A pair of markets for an exact output, such that the second, quoted on the state the first leaves, takes no more than the
 * first buys. Undefined if they do not agree: the pair is not offered.
 */
export function settlePair(
  first: Candidate,
  second: Candidate,
  { share, passed, amount, clock }: ExactOutPair,
): { readonly first: Candidate; readonly second: Candidate; readonly passed: bigint } | undefined {
  let bought = first;
  let most = passed;
  for (let round = 0; round < ROUNDS; round++) {
    const sold = quoteAfter(bought, second, amount, clock);
    if (sold === undefined) return undefined;
    const certain = minOf(most, leastPassed(bought.hot.venue, bought.quote, bought.quote.outAmount));
    if (sold.quote.inAmount <= certain) return { first: bought, second: sold, passed: certain };
    most = minOf(maximumIn(sold.quote.inAmount, share) + most - certain, U64_MAX);
    const { mode, inMint, outMint } = first.quote;
    try {
      bought = {
        hot: first.hot,
        quote: first.hot.venue.quote(first.hot.state, { mode, inMint, outMint, amount: most, clock }),
      };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
