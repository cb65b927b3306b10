import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import type { Route } from "../route.ts";
import type { MarketCurve } from "./curves/market-curve.ts";
import { INPUT, OUTPUT } from "./flow/flow.ts";
import type { CurveNetwork } from "./network.ts";
import { realizePlan } from "./realize.ts";

/** Paths that are quoted exactly at most. */
const MOST_QUOTED = 12;
/** How much more an exact quote may give than the curves. Fraction. */
const MOST_ERROR = 0.01;

/** Edges in a row, and their output by the curves: an upper bound if a limit is not known exactly. */
interface Chain {
  readonly edges: readonly number[];
  readonly outAmount: number;
  /** False if a market may refuse what reaches it: the amount lies between the largest accepted and the smallest refused input known. */
  readonly isCertain: boolean;
}

/**
 * The best single path if it is better than `single`. Normally the market of a pair that gives more is the better one. Only if a later
 * market cannot take that much may a path over worse markets give more.
 *
 * @param single the best path over the best market of each pair; undefined if there is none
 */
export function limitedChain(
  intent: Intent,
  network: CurveNetwork,
  single: Route | undefined,
  { inAmount, maxLegs, clock }: { readonly inAmount: number; readonly maxLegs: number; readonly clock: ChainClock },
): Route | undefined {
  // For exact outputs, the best market also needs the least from those before it.
  if (!network.isLimited || intent.mode === "exactOut") return undefined;
  let best = single;
  const least = Number(single?.outAmount ?? 0n) / (1 + MOST_ERROR);
  for (const { edges, outAmount } of chainsAbove(network, inAmount, maxLegs, { least, clock }).slice(0, MOST_QUOTED)) {
    if (best !== undefined && outAmount * (1 + MOST_ERROR) <= Number(best.outAmount)) break;
    const plan = edges.map((index) => {
      const { hot, inMint, outMint } = network.edges[index]!.curve;
      return { hot, inMint, outMint, weight: 1 };
    });
    const route = realizePlan(intent, plan, clock);
    if (typeof route === "object" && "steps" in route && (best === undefined || route.outAmount > best.outAmount))
      best = route;
  }
  return best === single ? undefined : best;
}

interface ChainTerms {
  /** Base units of output. */
  readonly least: number;
  readonly clock: ChainClock;
}

/** The paths of two or three markets that may take the amount and give more than `least`, the best first. */
function chainsAbove(network: CurveNetwork, inAmount: number, maxLegs: number, terms: ChainTerms): readonly Chain[] {
  const chains: Chain[] = [];
  const start: readonly Chain[] = [{ edges: [], outAmount: inAmount, isCertain: true }];
  for (let hub = OUTPUT + 1; hub < network.mints; hub++) {
    const arriving = extended(network, start, [INPUT, hub], terms);
    chains.push(...extended(network, arriving, [hub, OUTPUT], terms));
    for (let next = OUTPUT + 1; next < network.mints && maxLegs > 2; next++) {
      if (next === hub || arriving.length === 0) continue;
      const crossed = extended(network, arriving, [hub, next], terms);
      chains.push(...extended(network, crossed, [next, OUTPUT], terms));
    }
  }
  return chains.sort(byOutput);
}

/** Chains that are one market longer. A last market gets the most that it surely takes: an entry that brings less is worse. */
function extended(
  { edges, onwardRates }: CurveNetwork,
  chains: readonly Chain[],
  [from, to]: readonly [number, number],
  { least, clock }: ChainTerms,
): readonly Chain[] {
  const longer: Chain[] = [];
  for (const [index, edge] of edges.entries()) {
    if (edge.from !== from || edge.to !== to) continue;
    const { curve } = edge;
    for (const chain of chains) {
      const amount = chain.outAmount;
      if (amount >= curve.refused) continue;
      const outAmount = curve.isCoarse ? unitsOf(curve, amount, clock) : mostOf(curve, amount);
      const isCertain = chain.isCertain && amount <= curve.most;
      if (outAmount * onwardRates[to]! > least) longer.push({ edges: [...chain.edges, index], outAmount, isCertain });
      if (to === OUTPUT && isCertain) break;
    }
  }
  return longer.sort(byOutput);
}

/** The most that a market gives. Between its known limits, assume that the price stays. */
const mostOf = (curve: MarketCurve, amount: number) => curve.out(amount) * Math.max(1, amount / curve.most);

/** The whole units that a market gives; 0 if it refuses. */
function unitsOf({ hot, inMint, outMint }: MarketCurve, amount: number, clock: ChainClock): number {
  try {
    const ask = { mode: "exactIn", inMint, outMint, amount: BigInt(Math.floor(amount)), clock } as const;
    return Number(hot.venue.quote(hot.state, ask).outAmount);
  } catch {
    return 0;
  }
}

const byOutput = (a: Chain, b: Chain): number => b.outAmount - a.outAmount;
