import type { HotMarket } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import type { Steps } from "../long-searches.ts";
import type { Route } from "../route.ts";
import { fillForOutput } from "./flow/fill-for-output.ts";
import { fillWholly, pathsOf } from "./flow/fill-network.ts";
import type { Flow, FlowEdge } from "./flow/flow.ts";
import type { PlannedStep } from "./flow/plan-parts.ts";
import type { CurveNetwork } from "./network.ts";
import { realizePlan } from "./realize.ts";
import type { Shape } from "./shapes/split-shape.ts";
import type { Sizing } from "./sizing/sizing.ts";
import type { SplitPlan } from "./split-plans.ts";

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

const NONE_LEFT_OUT: ReadonlySet<HotMarket> = new Set();

/** If an exact output takes this much more or less than its division was begun with, it is divided anew. Fraction. */
const MOST_MISSED = 0.02;

/** What a division is searched for. */
export interface SearchTerms {
  readonly maxPaths: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
  /** See `SplitTerms`. */
  readonly capacity?: string | undefined;
  /** Searches without the markets that could not trade their part; several if absent. */
  readonly attempts?: number;
}

/** Divides a trade between the markets of a sizing, exactly. */
export class SplitSearch {
  readonly #intent: Intent;
  readonly #plan: SplitPlan;
  readonly #sizing: Sizing;
  readonly #terms: SearchTerms;
  /** The markets that were left out for a division, by its steps, because a route that is valued again is a new object. */
  readonly #without = new Map<Route["steps"], ReadonlySet<HotMarket>>();

  constructor(intent: Intent, plan: SplitPlan, sizing: Sizing, terms: SearchTerms) {
    this.#intent = intent;
    this.#plan = plan;
    this.#sizing = sizing;
    this.#terms = terms;
  }

  /** The best route over as many paths and markets as are known to fit. @param narrower finds one over fewer paths */
  *widest(narrower: (maxPaths: number) => Steps<Route | undefined>): Steps<Route | undefined> {
    const { capacity, maxPaths } = this.#terms;
    const { fits } = this.#sizing;
    const paths = Math.min(maxPaths, fits.widest(capacity));
    const addresses = fits.leftOut(capacity);
    if (addresses.size === 0) return yield* paths < maxPaths ? narrower(paths) : this.best(paths);
    const { edges } = this.#plan.network;
    const leftOut = edges.map(({ curve }) => curve.hot).filter(({ market }) => addresses.has(market.address));
    const light = yield* this.best(paths, new Set(leftOut));
    if (light !== undefined) return light;
    fits.forgets(capacity);
    return yield* this.best(maxPaths);
  }

  /** The best route of two up to `maxPaths` paths; undefined if one path takes everything. */
  *best(maxPaths: number, without: ReadonlySet<HotMarket> = NONE_LEFT_OUT): Steps<Route | undefined> {
    let best = yield* this.#bestOver(maxPaths, without);
    if (!this.#plan.sharesFees) return best;
    // Curves say too much of small parts, which pay as large a fee as larger ones: fewer paths may give more.
    for (let fewer = maxPaths - 1; fewer > 1; fewer--) {
      const other = yield* this.#bestOver(fewer, without);
      if (other !== undefined && (best === undefined || gainOf(this.#intent, other, best) > 0)) best = other;
    }
    return best;
  }

  *#bestOver(maxPaths: number, without: ReadonlySet<HotMarket>): Steps<Route | undefined> {
    if (maxPaths < 2) return undefined;
    const { coarse } = this.#plan;
    let best = yield* this.#found(maxPaths, without, without.size > 0);
    // A result from coarse curves may be worse than what the other markets give.
    const fine = coarse.size === 0 ? undefined : yield* this.#found(maxPaths, new Set([...without, ...coarse]), false);
    if (fine !== undefined && (best === undefined || gainOf(this.#intent, fine, best) > 0)) best = fine;
    if (best !== undefined) this.#without.set(best.steps, without);
    return best;
  }

  /** @param isLight true if one of many such divisions is compared */
  *#found(maxPaths: number, without: ReadonlySet<HotMarket>, isLight: boolean): Steps<Route | undefined> {
    const refused = new Set(without);
    for (let attempt = 0; attempt < (this.#terms.attempts ?? MOST_ATTEMPTS); attempt++) {
      const shape =
        isLight && attempt === 0
          ? yield* this.#sizing.shapeWithout(maxPaths, refused)
          : yield* this.#sizing.shapeFor(maxPaths, refused);
      if (shape === undefined) return undefined;
      yield* this.#plan.work.pause();
      const { best, fault } = yield* this.#refine(shape);
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
  *#refine(shape: Shape): Steps<{ readonly best?: Route; readonly fault?: HotMarket | undefined }> {
    const { mode, amount } = this.#intent;
    const cut = {
      parts: FINE_PARTS,
      leastParts: LEAST_PARTS,
      isFine: true,
      maxLegs: this.#terms.maxLegs,
      enough: this.#sizing.enoughFor(this.#intent),
      work: this.#plan.work,
    };
    const network = openEdges(this.#plan.network, shape);
    const closed = new Uint8Array(network.edges.length);
    let inAmount = this.#sizing.inputFor(this.#intent);
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
        yield* this.#plan.work.pause();
        continue;
      }
      const gain = best === undefined ? 1 : gainOf(this.#intent, route, best);
      if (gain > 0) best = route;
      const error = learnFrom(network, route);
      yield* this.#plan.work.pause();
      if (mode === "exactOut") {
        const missed = Math.abs(Number(route.inAmount) / inAmount - 1);
        inAmount = Number(route.inAmount);
        // A flow that was filled for another input keeps some of its division: begin anew.
        if (missed > MOST_MISSED) {
          flow = undefined;
          continue;
        }
      }
      if (Math.abs(gain) < LEAST_CHANGE || error < LEAST_ERROR) break;
    }
    return best === undefined ? { fault } : { best };
  }
}

/** How much better a route is than another. Fraction. */
export function gainOf({ mode }: Intent, route: Route, than: Route): number {
  return mode === "exactIn"
    ? Number(route.outAmount - than.outAmount) / Number(than.outAmount)
    : Number(than.inAmount - route.inAmount) / Number(than.inAmount);
}

/** Lowers the limit of a market that refused its part a little. @returns false after a few times */
function lowerLimit({ edges }: CurveNetwork, refused: HotMarket, times: number): boolean {
  const kept = LIMIT_STEPS[times];
  if (kept === undefined) return false;
  for (const { curve } of edges) if (curve.hot === refused) curve.most *= kept;
  return true;
}

/** The open part of a network, with curves of its own: as the search of the shape knows them, of the markets as they are now. */
function openEdges({ edges, ...network }: CurveNetwork, { closed, field }: Shape): CurveNetwork {
  const open: FlowEdge[] = [];
  for (const [index, { from, to, curve }] of edges.entries())
    if (closed[index] === 0) open.push({ from, to, curve: field.network.edges[index]!.curve.copy(curve.hot) });
  return { ...network, edges: open };
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
