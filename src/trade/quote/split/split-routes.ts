import type { HotMarket } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce, type Steps } from "../long-searches.ts";
import type { Route } from "../route.ts";
import { fillForOutput } from "./flow/fill-for-output.ts";
import { fillWholly, pathsOf } from "./flow/fill-network.ts";
import type { Flow } from "./flow/flow.ts";
import type { PlannedStep } from "./flow/plan-parts.ts";
import { limitedChain } from "./limited-chain.ts";
import { mayGain } from "./may-gain.ts";
import type { CurveNetwork, MintCrossing } from "./network.ts";
import { realizePlan } from "./realize.ts";
import type { Shape } from "./shapes/split-shape.ts";
import { type PlanTerms, planOf, type SplitPlan } from "./split-plans.ts";
import { NO_SPLITS, type Splits } from "./splits.ts";

/** Parts in which the input is first divided between the markets that take part, and the smallest ones moved afterwards. */
const FINE_PARTS = 16;
const LEAST_PARTS = 1_024;
/** Rounds in which the curves learn from the exact quotes of the last division. */
const ROUNDS = 3;
/** Retries, each without a market that could not trade its part. */
const MOST_ATTEMPTS = 4;
/** Factors by which a limit is lowered at each try if a market refuses its part: a little more may reach a market than the curves say. */
const LIMIT_STEPS = [0.999, 0.995, 0.98, 0.9] as const;
/**
 * A round that changes the result by less than this ends the search. A round that loses more does not end it: with large units the next one
 * may gain. Fraction.
 */
const LEAST_CHANGE = 1e-7;
/**
 * So does a round after which all curves are off by less than this: near its optimum a division is flat, so price errors count squared.
 * Fraction.
 */
const LEAST_ERROR = 5e-4;

/** What a split is searched for. */
export interface SplitTerms {
  readonly maxPaths: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
  /** Identifies the transaction's capacity, regardless of the wallet; undefined if divisions of every width are wanted. */
  readonly capacity?: string | undefined;
  /** Approximate input if no single path can make the trade. Base units; undefined if no division can either. */
  readonly inAmount?: bigint | undefined;
}

/**
 * Searches the best split.
 *
 * Markets are sampled with exact quotes at a few sizes; the curves through them are filled part by part along the best path;
 * the paths that carry least are closed until no more than `maxPaths` are left. All that is kept while no market changes: see
 * `planOf`. For each trade the division between these is quoted exactly, the curves learn from it, and it is made again.
 * Amounts and quotes of the result are exact: see `realizePlan`. Pauses after each piece of a search that is long: see `StepWork`.
 *
 * @param crossings the pairs of the trade, those that start at the input first, those that end at the output last
 * @param single the best single route; undefined if none can make the trade
 */
export function* splitRoutes(
  intent: Intent,
  crossings: readonly MintCrossing[],
  single: Route | undefined,
  terms: SplitTerms,
): Steps<Splits | undefined> {
  // With one market per pair, no single path is better than the best that was priced.
  if (terms.maxPaths < 2 && !leadsToHubs(intent, crossings)) return undefined;
  if (crossings.reduce((sum, { pair }) => sum + pair.markets.length, 0) < 2) return undefined;
  const inAmount = single?.inAmount ?? terms.inAmount;
  if (inAmount === undefined) return undefined;
  const outAmount = intent.mode === "exactOut" ? Number(intent.amount) : undefined;
  const { maxPaths } = terms;
  const planTerms = { inAmount: Number(inAmount), outAmount, maxLegs: terms.maxLegs, maxPaths, clock: terms.clock };
  if (single !== undefined && !mayGain(intent, crossings, single, planTerms)) return undefined;
  const shared = planOf(intent, crossings, planTerms, false);
  const isWrong = shared.isWrongFor(intent, maxPaths) === true;
  let splits: Splits | undefined;
  if (!isWrong) {
    splits = yield* splitsOf(intent, shared, single, terms, planTerms);
    const isMade = single !== undefined || splits?.best !== undefined;
    // During a pause another trade may have changed the plan.
    const isServed = shared.isWrongFor(intent, maxPaths) === false || !isDivided(shared, single, maxPaths);
    if (isServed || !(yield* shared.mayBeWrong(maxPaths, isMade))) return splits;
    yield;
  }
  const own = yield* splitsOf(intent, planOf(intent, crossings, planTerms, true), single, terms, planTerms);
  const isOwnBetter = isBetter(intent, own?.best, splits?.best);
  if (!isWrong) shared.learnWrong(intent, maxPaths, isOwnBetter);
  else if (own?.best === undefined && single === undefined)
    return yield* splitsOf(intent, shared, single, terms, planTerms);
  return isWrong || isOwnBetter ? own : splits;
}

/** False if a trade takes a single path whatever the shapes of its plan are. */
function isDivided(plan: SplitPlan, single: Route | undefined, maxPaths: number): boolean {
  return maxPaths > 1 && (single === undefined || plan.pays);
}

/** True if a trade gives more, or takes less, by a route than by another. */
function isBetter({ mode }: Intent, route: Route | undefined, than: Route | undefined): boolean {
  if (route === undefined || than === undefined) return route !== undefined;
  return mode === "exactIn" ? route.outAmount > than.outAmount : route.inAmount < than.inAmount;
}

/** The best division by a plan, and how to find others. */
function* splitsOf(
  intent: Intent,
  plan: SplitPlan,
  single: Route | undefined,
  terms: SplitTerms,
  planTerms: PlanTerms,
): Steps<Splits | undefined> {
  yield* plan.ready();
  const chain = limitedChain(intent, plan.network, single, planTerms);
  if (!isDivided(plan, single, terms.maxPaths)) return chain === undefined ? undefined : { ...NO_SPLITS, chain };
  // If the caller allows fewer paths, those may fit where more do not.
  const capacity = terms.capacity === undefined ? undefined : `${terms.capacity}, ${terms.maxPaths} paths`;
  const search = new SplitSearch(intent, plan, { ...terms, capacity });
  return {
    chain,
    best: yield* search.widest(),
    narrower: (maxPaths) => search.best(maxPaths),
    lighter: (route, market) => allAtOnce(search.lighter(route, market)),
    hasNoLighter: (kind) => plan.hasNoLighter(`${kind}, ${terms.maxPaths} paths`),
    findsNoLighter: (kind) => plan.findsNoLighter(`${kind}, ${terms.maxPaths} paths`),
    leavesOut: (route) => plan.leavesOut(capacity, search.leftOutOf(route)),
    neverFits: (paths) => plan.neverFits(capacity, paths),
    unfitWorth: plan.unfitWorth(capacity),
    beginsBelow: (worth) => plan.beginsBelow(capacity, worth),
  };
}

function leadsToHubs({ inMint, outMint }: Intent, crossings: readonly MintCrossing[]): boolean {
  return crossings.some(({ from, to }) => from === inMint.address && to !== outMint.address);
}

const NONE_LEFT_OUT: ReadonlySet<HotMarket> = new Set();

class SplitSearch {
  readonly #intent: Intent;
  /** The plan that trades of about the size share, and the sizing of it that is best for this one. */
  readonly #shared: SplitPlan;
  #plan: SplitPlan;
  readonly #terms: SplitTerms;
  /** The markets that were left out for a division, by its steps, because a route that is valued again is a new object. */
  readonly #without = new Map<Route["steps"], ReadonlySet<HotMarket>>();

  constructor(intent: Intent, plan: SplitPlan, terms: SplitTerms) {
    this.#intent = intent;
    this.#shared = plan;
    this.#plan = plan;
    this.#terms = terms;
  }

  /** The best route over as many paths and markets as are known to fit. */
  *widest(): Steps<Route | undefined> {
    const { capacity, maxPaths } = this.#terms;
    const paths = Math.min(maxPaths, this.#plan.widest(capacity));
    const leftOut = this.#plan.leftOut(capacity);
    if (leftOut.size === 0) return yield* this.#sized(paths);
    const light = yield* this.best(paths, leftOut);
    if (light !== undefined) return light;
    this.#plan.forgetsFit(capacity);
    return yield* this.best(maxPaths);
  }

  /** The best route; its input shows the size for which the markets should be chosen. */
  *#sized(maxPaths: number): Steps<Route | undefined> {
    let found = yield* this.best(maxPaths);
    // A trade that shares the plan of another has one of its own then: see `SplitPlan.isWrongFor`.
    if (found === undefined && this.#plan.isMadeFor(this.#intent, this.#terms.maxPaths)) {
      found = (yield* this.#takingLess(maxPaths)) ?? (yield* this.#withMore(maxPaths));
    }
    while (found !== undefined) {
      const resized = this.#plan.resized(this.#intent, Number(found.inAmount));
      if (resized === undefined) break;
      const other: Route | undefined = yield* this.#bestBy(resized, maxPaths, found);
      if (other === undefined) {
        this.#shared.reject(resized);
        break;
      }
      found = other;
    }
    return found;
  }

  /** The best route of an exact output over markets that need not take the plan's whole input. */
  *#takingLess(maxPaths: number): Steps<Route | undefined> {
    const less = this.#plan.takingLess();
    if (less === undefined) return undefined;
    const found = yield* this.#bestBy(less, maxPaths);
    if (found === undefined) this.#shared.reject(less);
    return found;
  }

  /** The best route of an exact output for which fewer paths need more input than all of them. */
  *#withMore(maxPaths: number): Steps<Route | undefined> {
    let last = this.#plan;
    for (;;) {
      const more: SplitPlan | undefined = yield* last.enlarged(this.#intent, maxPaths);
      const found = more === undefined ? undefined : yield* this.#bestBy(more, maxPaths);
      if (found !== undefined) return found;
      // Only at the end: a search that begins anew after its first step tries all of them.
      if (more === undefined) break;
      last = more;
    }
    this.#shared.reject(last);
    return undefined;
  }

  /**
   * The best route by another sizing of the plan, if that is better than a known one. The plan that others share changes only then and only at
   * the end: they may search during a pause, and a search may begin anew after its first step.
   */
  *#bestBy(sized: SplitPlan, maxPaths: number, than?: Route): Steps<Route | undefined> {
    const before = this.#plan;
    this.#plan = sized;
    const found = yield* this.best(maxPaths);
    if (found !== undefined && (than === undefined || this.#gainOf(found, than) > 0)) {
      this.#shared.adopt(sized, this.#intent, this.#terms.maxPaths);
      return found;
    }
    this.#plan = before;
    return undefined;
  }

  /** The best route of two up to `maxPaths` paths; undefined if one path takes everything. */
  *best(maxPaths: number, without: ReadonlySet<HotMarket> = NONE_LEFT_OUT): Steps<Route | undefined> {
    if (maxPaths < 2) return undefined;
    const { coarse } = this.#plan;
    let best = yield* this.#found(maxPaths, without, without.size > 0);
    // A result from coarse curves may be worse than what the other markets give.
    const fine = coarse.size === 0 ? undefined : yield* this.#found(maxPaths, new Set([...without, ...coarse]), false);
    if (fine !== undefined && (best === undefined || this.#gainOf(fine, best) > 0)) best = fine;
    if (best !== undefined) this.#without.set(best.steps, without);
    return best;
  }

  /** @param isLight true if one of many such divisions is compared */
  *#found(maxPaths: number, without: ReadonlySet<HotMarket>, isLight: boolean): Steps<Route | undefined> {
    const refused = new Set(without);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const shape =
        isLight && attempt === 0
          ? this.#plan.shapeWithout(maxPaths, refused)
          : yield* this.#plan.shapeFor(maxPaths, refused);
      if (shape === undefined) return undefined;
      yield* this.#plan.work.pause();
      const { best, fault } = this.#refine(shape);
      if (best !== undefined || fault === undefined) return best;
      // Without the market that cannot make its part.
      refused.add(fault);
    }
    return undefined;
  }

  /** The best division without a market of an earlier one. */
  lighter(route: Route, market: HotMarket): Steps<Route | undefined> {
    return this.best(this.#terms.maxPaths, new Set(this.leftOutOf(route)).add(market));
  }

  /** The markets that were left out for a division. */
  leftOutOf(route: Route): ReadonlySet<HotMarket> {
    return this.#without.get(route.steps) ?? NONE_LEFT_OUT;
  }

  /** Divides the trade between the edges, exactly, in a few rounds. */
  #refine(shape: Shape): { readonly best?: Route; readonly fault?: HotMarket | undefined } {
    const { mode, amount } = this.#intent;
    const enough = this.#plan.enoughFor(this.#intent);
    const cut = {
      parts: FINE_PARTS,
      leastParts: LEAST_PARTS,
      isFine: true,
      maxLegs: this.#terms.maxLegs,
      enough,
      work: this.#plan.work,
    };
    const network = openEdges(this.#plan.network, shape.closed);
    const closed = new Uint8Array(network.edges.length);
    let inAmount = this.#plan.inputFor(this.#intent);
    let flow: Flow | undefined;
    let best: Route | undefined;
    let faults = 0;
    let fault: HotMarket | undefined;
    for (let round = 0; round < ROUNDS + faults; round++) {
      const search = { ...cut, inAmount, closed };
      flow =
        mode === "exactIn" ? fillWholly(network, search, flow) : fillForOutput(network, search, Number(amount), flow);
      // Part by part, the best paths first, the markets may not take everything, although the shape's own paths do.
      if (flow === undefined && mode === "exactIn") flow = fillWholly(network, search, openFlow(shape));
      if (flow === undefined || pathsOf(network, flow) < 2) break;
      const route = realizePlan(this.#intent, stepsOf(network, flow, mode), this.#terms.clock);
      if (route === "unordered") break;
      if (!("steps" in route)) {
        fault = route;
        if (!lowerLimit(network, route, faults++)) break;
        continue;
      }
      if (mode === "exactOut") inAmount = Number(route.inAmount);
      const gain = best === undefined ? 1 : this.#gainOf(route, best);
      if (gain > 0) best = route;
      if (Math.abs(gain) < LEAST_CHANGE || learnFrom(network, route) < LEAST_ERROR) break;
    }
    return best === undefined ? { fault } : { best };
  }

  /** How much better a route is than another. Fraction. */
  #gainOf(route: Route, than: Route): number {
    return this.#intent.mode === "exactIn"
      ? Number(route.outAmount - than.outAmount) / Number(than.outAmount)
      : Number(than.inAmount - route.inAmount) / Number(than.inAmount);
  }
}

/** Lowers the limit of a market that refused its part a little. @returns false after a few times */
function lowerLimit({ edges }: CurveNetwork, refused: HotMarket, times: number): boolean {
  const kept = LIMIT_STEPS[times];
  if (kept === undefined) return false;
  for (const { curve } of edges) if (curve.hot === refused) curve.most *= kept;
  return true;
}

/** The open part of a network, with curves of its own. */
function openEdges({ edges, ...network }: CurveNetwork, closed: Uint8Array): CurveNetwork {
  const open = edges.filter((_, index) => closed[index] === 0);
  return { ...network, edges: open.map(({ from, to, curve }) => ({ from, to, curve: curve.copy() })) };
}

/** The flow of a shape, through its open edges alone. */
function openFlow({ closed, flow }: Shape): Flow {
  let open = 0;
  const places = Array.from(closed, (isClosed) => (isClosed === 0 ? open++ : -1));
  const place = (index: number) => (index < 0 ? -1 : places[index]!);
  return {
    ...flow,
    paths: flow.paths.map(({ legs: [a, b, c], sent }) => ({ legs: [place(a), place(b), place(c)], sent })),
  };
}

/** Teaches the curves the exact quotes of a route. @returns how far the worst curve was off, as a fraction */
function learnFrom({ edges }: CurveNetwork, { steps }: Route): number {
  let worst = 0;
  for (const { hot, quote } of steps) {
    const curve = edges.find((edge) => edge.curve.hot === hot && edge.curve.inMint === quote.inMint)?.curve;
    if (curve === undefined) continue;
    const [input, output] = [Number(quote.inAmount), Number(quote.outAmount)];
    worst = Math.max(worst, Math.abs(curve.out(input) / output - 1));
    curve.learn(input, output);
  }
  return worst;
}

/** The markets of a flow in order of execution: a mint is traded once everything has arrived. */
function stepsOf({ addresses, edges }: CurveNetwork, flow: Flow, mode: SwapMode): readonly PlannedStep[] {
  // A hub reached through another hub comes after it; longer rows do not exist.
  const isLate = new Uint8Array(addresses.length);
  for (const [index, { from, to }] of edges.entries())
    if (flow.inputs[index]! > 0 && from > 1 && to > 1) isLate[to] = 1;
  const rankOf = (mint: number) => (mint === 0 ? 0 : (1 + isLate[mint]!) * addresses.length + mint);
  const used = edges.map((edge, index) => ({ ...edge, index })).filter(({ index }) => flow.inputs[index]! > 0);
  used.sort(
    (a, b) =>
      rankOf(a.from) - rankOf(b.from) ||
      // Swaps that spend lamports come last: until then SOL may be wrapped.
      Number(a.curve.hot.market.nativeSol) - Number(b.curve.hot.market.nativeSol) ||
      a.index - b.index,
  );
  const weights = mode === "exactIn" ? flow.inputs : flow.outputs;
  return used.map(({ index, curve: { hot, inMint, outMint } }) => ({ hot, inMint, outMint, weight: weights[index]! }));
}
