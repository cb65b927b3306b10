import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { HotMarket } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { compareIntegers, minOf, U64_MAX } from "../../../primitives/integer.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { Ask, Quote, Replay, SignedAsk, SwapMode } from "../../../venues/venue.ts";

/** The signed swap of one market, as an attacker who trades around it sees it. */
export interface Victim {
  readonly hot: HotMarket;
  /** The market's state before anybody trades. */
  readonly state: unknown;
  readonly inMint: Address;
  readonly outMint: Address;
  /** The quote that was signed. */
  readonly signed: Quote;
  /** What the signed bytes ask, with the bound that the program enforces. */
  readonly ask: SignedAsk & { readonly bound: bigint };
  readonly clock: ChainClock;
}

/**
 * What trading before and after a swap on its market gives. Amounts are base units of the swap's input mint, after all fees of
 * the venue and of token transfers; network fees, tips and rent are left out.
 */
export type Sandwich =
  /** `frontRun` is spent before the swap; `taken` is the gain over that from selling again after it. */
  | { readonly kind: "profitable"; readonly frontRun: bigint; readonly taken: bigint }
  /** No size gains anything. */
  | { readonly kind: "unprofitable" }
  /** The swap cannot be traded around; `reason` says why. */
  | { readonly kind: "impossible"; readonly reason: string };

/** Steps of the search between two pauses are single probes: see `findSandwich`. */
type Search<T> = Generator<undefined, T>;

/** Sizes tried as shares of the largest, besides its halves. */
const SHARES = 16n;
const HALVES = 16;
/** Steps between the neighbours of the best of these. */
const REFINEMENTS = 40;
/**
 * A swap may fail after a purchase and pass after a larger one, because programs refuse amounts that their rounding cannot produce, or whose
 * curve their approximation does not reach. Growing ends after this many doubled sizes in a row that miss the bound or cannot be bought; it
 * goes on past swaps that are refused whatever their bound, unless what such a purchase leaves is unknown.
 */
const STRAY_FAILURES = 6;
/** The golden section in parts of a million. */
const GOLDEN = 618_034n;
const MILLION = 1_000_000n;

/** Quotes of one search at most: growing and bisecting take two per step, each size tried three. */
export const MOST_QUOTES = 2 * (64 + 64) + 3 * (Number(SHARES) + HALVES + REFINEMENTS + 3);

/**
 * Searches for the trade before and after a swap that gains the most: a purchase of what the swap buys, as large as the swap's own bound
 * lets it be at most, and the sale of all of it afterwards. Every step is an exact quote on the state that the one before it leaves. Yields
 * after each probe, so that a caller can pause; at most `MOST_QUOTES` quotes.
 *
 * The gain grows with the size until fees outweigh it, so it is followed from the best of 32 sizes to the peak next to it. Where a venue's
 * fees fall in steps, a second peak may lie elsewhere.
 *
 * @returns undefined if the state after a trade on this market cannot be predicted, or our code fails on it
 */
export function* findSandwich(victim: Victim): Search<Sandwich | undefined> {
  if (victim.hot.venue.traded === undefined) return undefined;
  if (attempt(victim, 0n) === undefined) return undefined;
  const largest = yield* largestFrontRun(victim);
  if (largest === undefined) return undefined;
  if (largest === 0n) return { kind: "unprofitable" };
  const tried = new Map<bigint, bigint>();
  let refusal: string | undefined;
  let isKnown = true;
  const outOfReach = new Set<bigint>();
  const gain = (size: bigint): bigint => {
    const known = tried.get(size);
    if (known !== undefined) return known;
    const tradedAround = attempt(victim, size);
    if (tradedAround === undefined) isKnown = false;
    const result = tradedAround?.gain ?? NOTHING;
    if (typeof result === "string") refusal ??= result;
    if (result === OUT_OF_REACH) outOfReach.add(size);
    const value = typeof result === "string" || result < NOTHING ? NOTHING : result;
    tried.set(size, value);
    return value;
  };
  const sizes = new Set<bigint>();
  for (let share = 1n; share <= SHARES; share++) sizes.add((largest * share) / SHARES);
  for (let half = 1; half <= HALVES; half++) sizes.add(largest >> BigInt(half));
  sizes.delete(0n);
  const ordered = [...sizes].sort(compareIntegers);
  let best = 0;
  for (let at = 0; at < ordered.length; at++) {
    if (gain(ordered[at]!) > gain(ordered[best]!)) best = at;
    yield;
  }
  if (!isKnown) return undefined;
  if (gain(ordered[best]!) === NOTHING && refusal !== undefined) return { kind: "impossible", reason: refusal };
  // The peak may lie at sizes that only a sale over more of the market could exploit.
  if (outOfReach.has(ordered[best]!) || outOfReach.has(ordered[best + 1] ?? 0n)) return undefined;
  yield* climb(gain, best === 0 ? 1n : ordered[best - 1]!, ordered[best + 1] ?? largest);
  if (!isKnown) return undefined;
  let [frontRun, taken] = [0n, 0n];
  for (const [size, gained] of tried) if (gained > taken) [frontRun, taken] = [size, gained];
  return taken > 0n ? { kind: "profitable", frontRun, taken } : { kind: "unprofitable" };
}

/** Below every gain. */
const NOTHING = -(1n << 70n);
/** The purchase can be sold again, but not in one swap within the known part of the market. */
const OUT_OF_REACH = NOTHING - 1n;

/** Golden-section search for the peak between two sizes. */
function* climb(gain: (size: bigint) => bigint, from: bigint, to: bigint): Search<void> {
  let [low, high] = [from, to];
  for (let step = 0; step < REFINEMENTS / 2 && high - low > 2n; step++) {
    const span = ((high - low) * GOLDEN) / MILLION;
    const [left, right] = [high - span, low + span];
    if (gain(left) < gain(right)) low = left;
    else high = right;
    yield;
  }
}

/**
 * The largest purchase before the swap after which the swap still keeps its bound, strays aside. 0 if there is none, undefined if
 * unknown.
 */
function* largestFrontRun(victim: Victim): Search<bigint | undefined> {
  const keeps = (size: bigint): boolean | undefined => attempt(victim, size)?.keeps;
  let fits = 0n;
  let [failures, misses] = [0, 0];
  for (let size = 1n; misses < STRAY_FAILURES; size = minOf(size * 2n, U64_MAX)) {
    const tried = attempt(victim, size);
    if (tried === undefined && failures < STRAY_FAILURES) return undefined;
    if (tried === undefined) break;
    failures = tried.keeps ? 0 : failures + 1;
    misses = tried.keeps || tried.failure === "refused" ? 0 : misses + 1;
    if (tried.keeps) fits = size;
    if (size === U64_MAX) break;
    yield;
  }
  let breaks = minOf(fits === 0n ? 1n : fits * 2n, U64_MAX);
  while (breaks - fits > 1n) {
    const middle = (fits + breaks) / 2n;
    const kept = keeps(middle);
    if (kept === undefined) return undefined;
    if (kept) fits = middle;
    else breaks = middle;
    yield;
  }
  return fits;
}

interface Attempt {
  /** True if the swap keeps its bound. */
  readonly keeps: boolean;
  /** "refused" if the swap fails whatever its bound. */
  readonly failure?: "refused" | undefined;
  /** What selling again gives beyond what went in; if it cannot be sold again, why. */
  readonly gain: bigint | string;
}

/**
 * Buys for `size`, lets the swap pass, sells again. Undefined if the state after a trade cannot be predicted. Code that throws on a state
 * counts as that, so that no caller's question can harm another.
 */
function attempt(victim: Victim, size: bigint): Attempt | undefined {
  try {
    return tradeAround(victim, size);
  } catch (error) {
    victim.hot.failed?.(error);
    return undefined;
  }
}

function tradeAround({ hot, state, inMint, outMint, signed, ask, clock }: Victim, size: bigint): Attempt | undefined {
  const { venue } = hot;
  const quote = (on: unknown, wanted: Ask) => orRefusal(() => venue.quote(on, wanted));
  const exactIn = (from: Address, to: Address, amount: bigint): Ask => ({
    mode: "exactIn",
    inMint: from,
    outMint: to,
    amount,
    clock,
  });
  let before: unknown = state;
  let bought: Quote | undefined;
  if (size > 0n) {
    const answer = quote(state, exactIn(inMint, outMint, size));
    // A purchase too small to be one moves nothing; one that is too large cannot be made.
    if (answer instanceof TradewireError) return answer.code === "VALIDATION_ERROR" ? KEPT : MISSED;
    bought = answer;
    before = venue.traded!(state, bought, clock);
    if (before === undefined) return undefined;
  }
  const swap: Ask = { mode: ask.mode, inMint, outMint, amount: ask.amount, clock };
  const replayed = orRefusal(() => replay(hot, before, signed, swap, ask.bound));
  if (replayed instanceof TradewireError) {
    return replayed.code === "SLIPPAGE_EXCEEDED" ? MISSED : { ...MISSED, failure: "refused" };
  }
  if (!keepsBound(ask.mode, replayed.made, ask.bound)) return MISSED;
  const after = replayed.left();
  if (bought === undefined) return after === undefined ? undefined : KEPT;
  if (after === undefined) return undefined;
  const sold = quote(after, exactIn(outMint, inMint, bought.outAmount));
  if (sold instanceof TradewireError)
    return { keeps: true, gain: sold.code === "INSUFFICIENT_LIQUIDITY" ? OUT_OF_REACH : sold.message };
  return { keeps: true, gain: sold.outAmount - bought.inAmount };
}

const KEPT: Attempt = { keeps: true, gain: 0n };
const MISSED: Attempt = { keeps: false, gain: NOTHING };

function keepsBound(mode: SwapMode, { inAmount, outAmount }: Quote, bound: bigint): boolean {
  return mode === "exactIn" ? outAmount >= bound : inAmount <= bound;
}

/** The signed swap on a later state of its market. @throws TradewireError if it fails there, whatever its bound */
export function replay(
  { venue }: HotMarket,
  state: unknown,
  signed: Quote,
  ask: Ask,
  bound: bigint,
): Replay<unknown, unknown> {
  if (venue.replay !== undefined) return venue.replay(state, signed, ask, bound);
  const made = venue.quote(state, ask);
  return { made, left: () => venue.traded!(state, made, ask.clock) };
}

/** The answer, or why there is none. */
function orRefusal<T>(quote: () => T): T | TradewireError {
  try {
    return quote();
  } catch (error) {
    if (error instanceof TradewireError) return error;
    throw error;
  }
}
