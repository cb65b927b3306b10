import type { HotMarket } from "../../../market/port.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { pathCount, type Route } from "../route.ts";
import { type Flow, type FlowSearch, fillNetwork, pathsOf } from "./flow.ts";
import { type CurveNetwork, type MintCrossing, sampleNetwork } from "./network.ts";
import { type PlannedStep, realizePlan } from "./realize.ts";

/** Below this price impact of the best single route splitting is not searched: it could not gain more. Fraction. */
const LEAST_IMPACT = 0.0002;
/** Parts of the input: to find which markets take part, and to divide it between these. */
const COARSE_PARTS = 32;
const FINE_PARTS = 160;
/** Rounds in which markets are quoted where a coarse flow uses them, before any is closed. */
const INFORMED_ROUNDS = 3;
/** Edges that carry least, of which the cheapest to lose is closed. */
const LOSSES_COMPARED = 4;
/** Rounds in which the curves learn from the exact quotes of the last division. */
const ROUNDS = 3;
/** Searches without a market that cannot make its part. */
const MOST_ATTEMPTS = 4;
/** A round that gains less than this ends the search. Fraction. */
const LEAST_GAIN = 1e-7;

/** What a split is searched for. */
export interface SplitTerms {
  readonly maxPaths: number;
  readonly maxLegs: number;
  readonly clock: ChainClock;
}

/**
 * The best division of the trade over parallel paths, and how to find narrower ones. Undefined if splitting cannot gain: the
 * best single route hardly moves the price, or there is nothing to divide between.
 */
export interface Splits {
  readonly best: Route | undefined;
  /** The best divisions over fewer paths than the best one has, widest first: for transactions that it does not fit. */
  readonly narrower: () => readonly Route[];
}

/**
 * Searches the best split.
 *
 * Markets are sampled with exact quotes; the curves through them are filled part by part along the best path; the paths that
 * carry least are closed until no more than `maxPaths` are left; the division is quoted exactly, the curves learn from it, and
 * it is made again. Amounts and quotes of the result are exact: see `realizePlan`.
 *
 * @param crossings the pairs of the trade, those that start at the input first, those that end at the output last
 * @param single the best single route; undefined if none can make the trade (exactIn only)
 */
export function splitRoutes(
  intent: Intent,
  crossings: readonly MintCrossing[],
  single: Route | undefined,
  terms: SplitTerms,
): Splits | undefined {
  if (terms.maxPaths < 2 || (single !== undefined && single.priceImpact < LEAST_IMPACT)) return undefined;
  if (single === undefined && intent.mode === "exactOut") return undefined;
  if (crossings.reduce((sum, { pair }) => sum + pair.markets.length, 0) < 2) return undefined;
  const inAmount = single?.inAmount ?? intent.amount;
  const network = sampleNetwork(intent, crossings, inAmount, terms.clock);
  if (network.edges.length < 2) return undefined;
  const search = new SplitSearch(intent, network, inAmount, terms);
  const best = search.best(terms.maxPaths);
  return {
    best,
    narrower: () => {
      const routes: Route[] = [];
      for (let paths = (best === undefined ? 1 : pathCount(best)) - 1; paths > 1; paths--) {
        const route = search.best(paths);
        if (route !== undefined) routes.push(route);
      }
      return routes;
    },
  };
}

class SplitSearch {
  readonly #intent: Intent;
  readonly #network: CurveNetwork;
  readonly #inAmount: number;
  readonly #terms: SplitTerms;

  constructor(intent: Intent, network: CurveNetwork, inAmount: bigint, terms: SplitTerms) {
    this.#intent = intent;
    this.#network = network;
    this.#inAmount = Number(inAmount);
    this.#terms = terms;
  }

  /** The best route of two up to `maxPaths` paths; undefined if one path takes everything. */
  best(maxPaths: number): Route | undefined {
    const refused = new Uint8Array(this.#network.edges.length);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const shape = this.#shape(maxPaths, refused.slice());
      if (shape === undefined) return undefined;
      const { best, fault } = this.#refine(shape);
      if (best !== undefined || fault === undefined) return best;
      // Without the market that cannot make its part.
      for (const [index, { curve }] of this.#network.edges.entries()) if (curve.hot === fault) refused[index] = 1;
    }
    return undefined;
  }

  /** Divides the trade between the open edges, exactly, in a few rounds. */
  #refine(shape: Uint8Array): { readonly best?: Route; readonly fault?: HotMarket } {
    let best: Route | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const flow = fillNetwork(this.#network, this.#search(FINE_PARTS, shape));
      if (flow === undefined || pathsOf(this.#network, flow) < 2) break;
      const plan = planOf(this.#network, flow, this.#intent.mode);
      const route = realizePlan(this.#intent, plan, this.#terms.clock);
      if (route === "unordered") break;
      if (!("steps" in route)) return best === undefined ? { fault: route } : { best };
      const gain = best === undefined ? 1 : this.#gainOf(route, best);
      if (gain > 0) best = route;
      if (gain < LEAST_GAIN) break;
      this.#learn(route);
    }
    return best === undefined ? {} : { best };
  }

  /** Closes the paths whose loss costs least until at most `maxPaths` are left. Returns which edges stay closed. */
  #shape(maxPaths: number, closed: Uint8Array): Uint8Array | undefined {
    let flow = this.#informedFlow(closed);
    for (let round = 0; flow !== undefined && round <= closed.length; round++) {
      const paths = pathsOf(this.#network, flow);
      for (const [index, carried] of flow.carried.entries()) if (carried === 0) closed[index] = 1;
      if (paths <= maxPaths) return paths < 2 ? undefined : closed;
      const least = this.#cheapestLoss(flow, closed);
      if (least === undefined) return undefined;
      closed[least] = 1;
      flow = this.#informedFlow(closed);
    }
    return undefined;
  }

  /** A coarse flow whose markets were all quoted near what they take in it. */
  #informedFlow(closed: Uint8Array): Flow | undefined {
    const { edges } = this.#network;
    let flow = fillNetwork(this.#network, this.#search(COARSE_PARTS, closed));
    for (let round = 0; flow !== undefined && round < INFORMED_ROUNDS; round++) {
      let learned = 0;
      for (const [index, { curve }] of edges.entries()) {
        const input = flow.inputs[index]!;
        if (input > 0 && !curve.knows(input) && curve.sample(BigInt(Math.floor(input)), this.#terms.clock)) learned++;
      }
      if (learned === 0) return flow;
      flow = fillNetwork(this.#network, this.#search(COARSE_PARTS, closed));
    }
    return flow;
  }

  /** Of the open edges that carry least, the one whose closing costs least. */
  #cheapestLoss(flow: Flow, closed: Uint8Array): number | undefined {
    const least = Array.from(flow.carried.keys())
      .filter((index) => closed[index] === 0)
      .sort((a, b) => flow.carried[a]! - flow.carried[b]!)
      .slice(0, LOSSES_COMPARED);
    let best: { readonly index: number; readonly rate: number } | undefined;
    for (const index of least) {
      closed[index] = 1;
      const without = fillNetwork(this.#network, this.#search(COARSE_PARTS, closed));
      closed[index] = 0;
      const rate = without === undefined ? 0 : without.outAmount / without.inAmount;
      if (without !== undefined && (best === undefined || rate > best.rate)) best = { index, rate };
    }
    return best?.index;
  }

  #search(parts: number, closed: Uint8Array): FlowSearch {
    const { mode, amount } = this.#intent;
    const outAmount = mode === "exactOut" ? Number(amount) : 0;
    return { mode, inAmount: this.#inAmount, outAmount, parts, maxLegs: this.#terms.maxLegs, closed };
  }

  /** How much better a route is than another. Fraction. */
  #gainOf(route: Route, than: Route): number {
    return this.#intent.mode === "exactIn"
      ? Number(route.outAmount - than.outAmount) / Number(than.outAmount)
      : Number(than.inAmount - route.inAmount) / Number(than.inAmount);
  }

  #learn({ steps }: Route): void {
    for (const { hot, quote } of steps) {
      const edge = this.#network.edges.find(({ curve }) => curve.hot === hot && curve.inMint === quote.inMint);
      edge?.curve.learn(Number(quote.inAmount), Number(quote.outAmount));
    }
  }
}

/** The markets of a flow in order of execution: a mint is traded once everything has arrived. */
function planOf({ addresses, edges }: CurveNetwork, flow: Flow, mode: SwapMode): readonly PlannedStep[] {
  // A hub that another hub leads to comes after it; there are no longer rows.
  const isLate = new Uint8Array(addresses.length);
  for (const [index, { from, to }] of edges.entries())
    if (flow.carried[index]! > 0 && from > 1 && to > 1) isLate[to] = 1;
  const rankOf = (mint: number) => (mint === 0 ? 0 : (1 + isLate[mint]!) * addresses.length + mint);
  const used = edges.map((edge, index) => ({ ...edge, index })).filter(({ index }) => flow.carried[index]! > 0);
  used.sort(
    (a, b) =>
      rankOf(a.from) - rankOf(b.from) ||
      // Lamports leave last: until then SOL may lie wrapped.
      Number(a.curve.hot.market.nativeSol) - Number(b.curve.hot.market.nativeSol) ||
      a.index - b.index,
  );
  const weights = mode === "exactIn" ? flow.inputs : flow.outputs;
  return used.map(({ index, curve: { hot, inMint, outMint } }) => ({ hot, inMint, outMint, weight: weights[index]! }));
}
