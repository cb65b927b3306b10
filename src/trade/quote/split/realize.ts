import type { HotMarket } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { minOf, U64_MAX } from "../../../primitives/integer.ts";
import { dividePassing, type Passing } from "../../../primitives/passing.ts";
import { maximumIn, minimumOut } from "../../../primitives/slippage.ts";
import type { ChainClock } from "../../../solana/account.ts";
import { isBetweenHubs } from "../../../solana/hub-mints.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import type { Ask, Quote } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { leastPassed } from "../pricing/shared-state.ts";
import type { Route, RouteStep } from "../route.ts";
import { divideParts, NONE_FIXED, type PlannedStep } from "./flow/plan-parts.ts";
import { impactOf, pathsOfSteps } from "./path-legs.ts";

/**
 * The route of a plan, in exact integers: every market quoted as its program would trade, on the state that the markets
 * before it leave. What goes in, or comes out, is the amount of the trade to the base unit.
 *
 * @param plan each market after those that feed it
 * @returns the market at fault if one cannot make its part; "unordered" if all can, but not in one transaction, or for more than an account holds
 */
export function realizePlan(
  intent: Intent,
  plan: readonly PlannedStep[],
  clock: ChainClock,
): Route | HotMarket | "unordered" {
  const { inMint, outMint, mode, slippagePpb } = intent;
  if (mixesSol(intent, plan)) return "unordered";
  const sides = { inMint: inMint.address, outMint: outMint.address };
  const passing = dividePassing(plan, { ...sides, mode, slippagePpb, isBetweenHubs });
  const steps = mode === "exactIn" ? stepsIn(intent, plan, passing, clock) : stepsOut(intent, plan, passing, clock);
  if (!Array.isArray(steps)) return steps;
  const route = routeOf(intent, steps, passing);
  return route.inAmount > U64_MAX ? "unordered" : route;
}

/** The quote of a market, or undefined if it refuses or cannot be priced. */
function tryQuote({ venue }: HotMarket, state: unknown, ask: Ask): Quote | undefined {
  try {
    return venue.quote(state, ask);
  } catch {
    return undefined;
  }
}

/**
 * True if SOL between markets arrives partly as lamports and partly wrapped: a swap that spends it wrapped would run before all of it is
 * there.
 */
function mixesSol({ inMint, outMint }: Intent, plan: readonly PlannedStep[]): boolean {
  if (inMint.address === SOL_MINT || outMint.address === SOL_MINT) return false;
  const arriving = plan.filter(({ outMint: to }) => to === SOL_MINT);
  return arriving.some(({ hot }) => hot.market.nativeSol !== arriving[0]!.hot.market.nativeSol);
}

/** A market that rounds may leave up to this part of its input unspent, and this many base units. */
const LEFT_PART = 1_000_000n;
const LEFT_UNITS = 2n;

/** Finds the steps. What an entry leaves of its part by rounding goes to the other entries, so that the sum is the amount asked. */
function stepsIn(
  intent: Intent,
  plan: readonly PlannedStep[],
  passing: Passing<Address>,
  clock: ChainClock,
): RouteStep[] | HotMarket {
  const fixed = new Map<PlannedStep, bigint>();
  for (;;) {
    const found = stepsWith(intent, plan, passing, clock, fixed);
    if (!("left" in found)) return found;
    const { left, taken } = found;
    const hasOthers = plan.some((one) => one.inMint === left.inMint && one !== left && !fixed.has(one));
    if (fixed.has(left) || !hasOthers) return left.hot;
    fixed.set(left, taken);
  }
}

/** An entry that leaves a little of its part. */
interface LeftOver {
  readonly left: PlannedStep;
  readonly taken: bigint;
}

/** @param fixed parts of entries that take no more */
function stepsWith(
  { inMint, outMint, amount }: Intent,
  plan: readonly PlannedStep[],
  { shares, rest }: Passing<Address>,
  clock: ChainClock,
  fixed: ReadonlyMap<PlannedStep, bigint>,
): RouteStep[] | HotMarket | LeftOver {
  const states = new Map<HotMarket, unknown>();
  const held = new Map<Address, bigint>([[inMint.address, amount]]);
  const parts = new Map<PlannedStep, bigint>();
  const steps: RouteStep[] = [];
  for (const [index, planned] of plan.entries()) {
    const { hot, inMint: from, outMint: to } = planned;
    if (!parts.has(planned))
      divideParts(
        plan.filter((other) => other.inMint === from),
        held.get(from) ?? 0n,
        parts,
        fixed,
      );
    const part = parts.get(planned)!;
    if (part <= 0n) return hot;
    const state = states.get(hot) ?? hot.state;
    const quote = tryQuote(hot, state, { mode: "exactIn", inMint: from, outMint: to, amount: part, clock });
    if (quote === undefined || (plan.length > 1 && part - quote.inAmount > LEFT_UNITS + part / LEFT_PART)) return hot;
    // In a hub's mint, it stays as a remainder; in the input, it would leave the sum short of the amount asked.
    if (plan.length > 1 && quote.inAmount !== part && from === inMint.address)
      return { left: planned, taken: quote.inAmount };
    if (!moveOthers(plan.slice(index + 1), { hot, quote }, state, states)) return hot;
    const isLast = to === outMint.address;
    const least = minimumOut(quote.outAmount, isLast ? rest : (shares.get(to) ?? 0n));
    const threshold = isLast ? least : leastPassed(hot.venue, quote, least);
    held.set(to, (held.get(to) ?? 0n) + threshold);
    steps.push({ hot, quote, threshold });
  }
  return steps;
}

/** Later quotes use the state that a trade leaves. @returns false if that state cannot be predicted */
function moveOthers(
  later: readonly PlannedStep[],
  { hot, quote }: { readonly hot: HotMarket; readonly quote: Quote },
  state: unknown,
  states: Map<HotMarket, unknown>,
): boolean {
  const { venue } = hot;
  if (venue.after === undefined) return true;
  for (const { hot: other } of later) {
    if (other.venue !== venue) continue;
    const before = states.get(other) ?? other.state;
    const after = tryAfter(hot, state, quote, before);
    if (after === undefined) return false;
    states.set(other, after);
  }
  return true;
}

/** The state of another market after a trade; undefined if it cannot be predicted. */
function tryAfter({ venue }: HotMarket, state: unknown, quote: Quote, other: unknown): unknown {
  try {
    return venue.after!(state, quote, other);
  } catch {
    return undefined;
  }
}

/** Rounds for markets that affect each other to agree: each round moves what passes between them by a few units at most. */
const ROUNDS = 4;

/**
 * Amounts of exact outputs are found backwards, states forwards: markets that affect each other are quoted again on the states that the
 * trades leave, until nothing changes.
 */
function stepsOut(
  intent: Intent,
  plan: readonly PlannedStep[],
  passing: Passing<Address>,
  clock: ChainClock,
): RouteStep[] | HotMarket {
  let states: ReadonlyMap<HotMarket, unknown> = UNCHANGED;
  let before: readonly RouteStep[] | undefined;
  for (let round = 0; ; round++) {
    const steps = stepsOutOn(states, intent, plan, passing, clock);
    if (!Array.isArray(steps)) return steps;
    const left = statesLeftBy(steps);
    if (!(left instanceof Map)) return left;
    if (left.size === 0 || (before !== undefined && isSameTrade(before, steps))) return steps;
    if (round === ROUNDS) return left.keys().next().value!;
    before = steps;
    states = left;
  }
}

const UNCHANGED: ReadonlyMap<HotMarket, unknown> = new Map();

/** @param states of the markets that others affect */
function stepsOutOn(
  states: ReadonlyMap<HotMarket, unknown>,
  { inMint, outMint, amount }: Intent,
  plan: readonly PlannedStep[],
  { shares, rest }: Passing<Address>,
  clock: ChainClock,
): RouteStep[] | HotMarket {
  const needed = new Map<Address, bigint>([[outMint.address, amount]]);
  const parts = new Map<PlannedStep, bigint>();
  const steps: RouteStep[] = [];
  for (const planned of plan.toReversed()) {
    const { hot, inMint: from, outMint: to } = planned;
    if (!parts.has(planned))
      divideParts(
        plan.filter((other) => other.outMint === to),
        needed.get(to) ?? 0n,
        parts,
        NONE_FIXED,
      );
    const part = parts.get(planned)!;
    if (part <= 0n) return hot;
    const quote = buyPart(planned, states.get(hot) ?? hot.state, part, to === outMint.address, clock);
    if (quote === undefined) return hot;
    const threshold = maximumIn(quote.inAmount, from === inMint.address ? rest : (shares.get(from) ?? 0n));
    needed.set(from, (needed.get(from) ?? 0n) + threshold);
    steps.unshift({ hot, quote, threshold });
  }
  return steps;
}

/** The purchase of a part. For a mint between markets: one after which the part arrives whichever way the market's program rounds. */
function buyPart(
  { hot, inMint, outMint }: PlannedStep,
  state: unknown,
  part: bigint,
  isLast: boolean,
  clock: ChainClock,
) {
  const ask = { mode: "exactOut", inMint, outMint, amount: part, clock } as const;
  const quote = tryQuote(hot, state, ask);
  if (quote === undefined || isLast) return quote;
  const missing = part - leastPassed(hot.venue, quote, quote.outAmount);
  if (missing <= 0n) return quote;
  const more = tryQuote(hot, state, { ...ask, amount: part + missing });
  return more !== undefined && leastPassed(hot.venue, more, more.outAmount) >= part ? more : undefined;
}

/** The states of markets that earlier trades on others change; a market whose state cannot be predicted. */
function statesLeftBy(steps: readonly RouteStep[]): Map<HotMarket, unknown> | HotMarket {
  const states = new Map<HotMarket, unknown>();
  for (const [index, { hot, quote }] of steps.entries()) {
    const { venue } = hot;
    if (venue.after === undefined) continue;
    const state = states.get(hot) ?? hot.state;
    for (const { hot: later } of steps.slice(index + 1)) {
      if (later.venue !== venue) continue;
      const known = states.get(later) ?? later.state;
      const left = tryAfter(hot, state, quote, known);
      if (left === undefined) return later;
      if (left !== known) states.set(later, left);
    }
  }
  return states;
}

/** True if every market takes and gives the same. */
function isSameTrade(steps: readonly RouteStep[], others: readonly RouteStep[]): boolean {
  return steps.every(({ quote }, index) => {
    const other = others[index]!.quote;
    return quote.inAmount === other.inAmount && quote.outAmount === other.outAmount;
  });
}

function routeOf(intent: Intent, steps: readonly RouteStep[], { shares, rest }: Passing<Address>): Route {
  const { inMint, outMint, mode } = intent;
  let [inAmount, outAmount] = [0n, 0n];
  let stateSlot = steps[0]!.hot.slot;
  const left = new Map<Address, bigint>(Array.from(shares.keys(), (hub) => [hub, 0n]));
  for (const { hot, quote } of steps) {
    stateSlot = minOf(stateSlot, hot.slot);
    if (quote.inMint === inMint.address) inAmount += quote.inAmount;
    else left.set(quote.inMint, (left.get(quote.inMint) ?? 0n) - quote.inAmount);
    if (quote.outMint === outMint.address) outAmount += quote.outAmount;
    else left.set(quote.outMint, (left.get(quote.outMint) ?? 0n) + quote.outAmount);
  }
  const legs = pathsOfSteps(mode, steps, inMint.address, outMint.address);
  return {
    steps,
    legs,
    platform: legs.map(({ venue }) => venue).join("+"),
    inAmount,
    outAmount,
    threshold: mode === "exactIn" ? minimumOut(outAmount, rest) : maximumIn(inAmount, rest),
    value: mode === "exactIn" ? outAmount : inAmount,
    remainders: Array.from(left, ([mint, amount]) => ({ mint, amount })),
    priceImpact: impactOf(steps, inMint.address, outMint.address),
    stateSlot,
  };
}
