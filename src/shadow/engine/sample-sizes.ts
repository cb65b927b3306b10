import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import { createRandom } from "../../primitives/random.ts";
import type { ChainClock } from "../../solana/account.ts";
import type { Ask, Market, Quote, Venue } from "../../venues/venue.ts";

/** One trade of a check: the request, and our quote for it. */
export interface Sample {
  readonly ask: Ask;
  readonly quote: Quote;
  /** True of the exactIn trade that ends a curve. */
  readonly isLast?: boolean;
}

/** Amounts up to 2^62 are tried: above, programs may overflow where no wallet trades. */
const BITS = 62;
/** Powers tried until the market accepts one: too small and too large are both refused. */
const PROBES = [30, 20, 40, 10, 50, 25, 35, 15, 45, 5, 55, 0, 60, 2, 7, 12, 17, 22, 27, 32, 37, 42, 47, 52, 57, 62];
/** The large trade takes this part of what the market has to give. */
const LARGE_DIVISOR = 4n;
/** How much smaller the typical and the small trade are. */
const TYPICAL_DIVISOR = 1_000n;
const SMALL_DIVISOR = 1_000_000n;
/** Amounts vary by up to this part from check to check, so that checks in turn cover more than the same few trades. */
const SPREAD_DIVISOR = 3n;

/** The market and its state, at a clock. */
interface Offer {
  readonly venue: Venue;
  readonly market: Market;
  readonly state: unknown;
  readonly clock: ChainClock;
}

/**
 * Trades to check a market with: both directions, exactIn and exactOut, small, typical and large, and the one that ends a curve
 * whose refusals say what it takes at most. Fewer if the market refuses some of them, none if it makes no trade now.
 *
 * @param turn differs from check to check: varies the amounts
 * @throws whatever else than a TradewireError the venue throws
 */
export function chooseSamples(offer: Offer, turn: number): readonly Sample[] {
  const [a, b] = offer.market.mints;
  return [...samplesOf(offer, a, b, turn), ...samplesOf(offer, b, a, turn)];
}

function samplesOf(offer: Offer, inMint: Address, outMint: Address, turn: number): readonly Sample[] {
  const { venue, state, clock } = offer;
  let mostIn: bigint | undefined;
  const quoteOf = (mode: Ask["mode"], amount: bigint): Sample | undefined => {
    const ask = { mode, inMint, outMint, amount, clock };
    try {
      const quote = venue.quote(state, ask);
      return quote.inAmount > 0n && quote.outAmount > 0n ? { ask, quote } : undefined;
    } catch (error) {
      if (!(error instanceof TradewireError)) throw error;
      mostIn ??= mostInOf(error);
      return undefined;
    }
  };
  const outAt = (bits: number) => quoteOf("exactIn", 1n << BigInt(bits))?.quote.outAmount;
  const accepts = (bits: number) => outAt(bits) !== undefined;
  const middle = PROBES.find(accepts) ?? Array.from({ length: BITS }, (_, bits) => bits).find(accepts);
  if (middle === undefined) return [];
  const least = firstBit(0, middle, accepts);
  const refusedFrom = firstBit(middle, BITS + 1, (bits) => !accepts(bits));
  const most = outAt(refusedFrom - 1)!;
  const large = firstBit(least, refusedFrom - 1, (bits) => (outAt(bits) ?? 0n) >= most / LARGE_DIVISOR);
  const amounts = varied(1n << BigInt(large), 1n << BigInt(least), turn);
  const last = mostIn === undefined || mostIn >> BigInt(BITS) > 0n ? undefined : quoteOf("exactIn", mostIn);
  const exactIn = amounts.flatMap((amount) => quoteOf("exactIn", amount) ?? []);
  if (last !== undefined) exactIn.push({ ...last, isLast: true });
  if (!venue.supports.exactOut) return exactIn;
  return [...exactIn, ...exactIn.flatMap(({ quote }) => quoteOf("exactOut", quote.outAmount) ?? [])];
}

/** The most that a curve takes before it ends, as its refusal of more says. */
function mostInOf({ facts }: TradewireError): bigint | undefined {
  const most = facts.details?.mostIn;
  return typeof most === "string" ? BigInt(most) : undefined;
}

/** The first power between two at which `holds` turns true, or the last of them. */
function firstBit(from: number, to: number, holds: (bits: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function varied(large: bigint, least: bigint, turn: number): readonly bigint[] {
  const random = createRandom(turn);
  const sizes = [large / SMALL_DIVISOR, large / TYPICAL_DIVISOR, large].map((size) => {
    const lower = size - random.below(size / SPREAD_DIVISOR + 1n);
    return lower < least ? least : lower;
  });
  return [...new Set(sizes)];
}
