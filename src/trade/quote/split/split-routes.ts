import type { ChainClock } from "../../../solana/account.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce, type Steps } from "../long-searches.ts";
import type { Route } from "../route.ts";
import { limitedChain } from "./limited-chain.ts";
import { mayGain } from "./may-gain.ts";
import type { MintCrossing } from "./network.ts";
import { outputSizing } from "./sizing/output-sizing.ts";
import type { Sizing } from "./sizing/sizing.ts";
import { planOf, type SplitPlan } from "./split-plans.ts";
import { gainOf, type SearchTerms, SplitSearch } from "./split-search.ts";
import { NO_SPLITS, type Splits } from "./splits.ts";

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
  const planTerms = { inAmount: Number(inAmount), maxLegs: terms.maxLegs, clock: terms.clock };
  if (single !== undefined && !mayGain(intent, crossings, single, planTerms)) return undefined;
  const plan = planOf(intent, crossings, planTerms);
  yield* plan.ready();
  const chain = limitedChain(intent, plan.network, single, planTerms);
  const { maxPaths } = terms;
  const divided = maxPaths < 2 ? undefined : yield* dividedBy(intent, plan, single, terms);
  if (divided === undefined) return chain === undefined ? undefined : { ...NO_SPLITS, chain };
  return { ...divided, chain };
}

/**
 * The best division by a plan: over the markets of the sizing that trades of about the size share or, if limits of markets make that one
 * worse for others, over those for this trade alone. What others search changes neither.
 */
function* dividedBy(
  intent: Intent,
  plan: SplitPlan,
  single: Route | undefined,
  terms: SearchTerms,
): Steps<Splits | undefined> {
  const { maxPaths } = terms;
  const kind = `${maxPaths} paths, ${terms.capacity}`;
  if (single === undefined && plan.isRefused(intent, kind)) return undefined;
  const sizes = (first: Sizing, outAmount: bigint) =>
    outputSizing({ ...intent, amount: outAmount }, plan, first, terms);
  const shared = yield* plan.sharedSizing(intent, maxPaths, sizes);
  if (shared !== undefined && single !== undefined && !(yield* plan.pays(shared))) return undefined;
  const known = plan.bestSizing(intent, maxPaths);
  let best: Splits | undefined;
  if (shared !== undefined && (known === undefined || known === "shared")) {
    best = yield* splitsOf(intent, plan, shared, single, terms);
    if (known === "shared") return best;
    const isMade = single !== undefined || best.best !== undefined;
    if (isMade && !(yield* shared.isHeldBack(maxPaths))) return best;
  }
  if (known !== "near") {
    const own = yield* splitsOf(intent, plan, yield* plan.ownSizing(intent, maxPaths, sizes), single, terms);
    const isBetter = best === undefined || isBetterRoute(intent, own.best, best.best);
    if (isBetter) best = own;
    if (single !== undefined || best?.best !== undefined) {
      plan.learnBestSizing(intent, maxPaths, isBetter ? "own" : "shared");
      return best;
    }
  }
  for (const sizing of plan.nearSizings(intent)) {
    const near = yield* splitsOf(intent, plan, yield* sizing, single, { ...terms, attempts: 1 });
    if (near.best === undefined) continue;
    plan.learnBestSizing(intent, maxPaths, "near");
    return near;
  }
  plan.learnRefused(intent, kind);
  return best;
}

/** True if a trade gives more, or takes less, by a route than by another. */
function isBetterRoute(intent: Intent, route: Route | undefined, than: Route | undefined): boolean {
  if (route === undefined || than === undefined) return route !== undefined;
  return gainOf(intent, route, than) > 0;
}

/** The best division over the markets of a sizing, and how to find others. */
function* splitsOf(
  intent: Intent,
  plan: SplitPlan,
  sizing: Sizing,
  single: Route | undefined,
  terms: SearchTerms,
): Steps<Splits> {
  // If the caller allows fewer paths, those may fit where more do not.
  const capacity = terms.capacity === undefined ? undefined : `${terms.capacity}, ${terms.maxPaths} paths`;
  const search = new SplitSearch(intent, plan, sizing, { ...terms, capacity });
  const { fits } = sizing;
  const narrower = (maxPaths: number) =>
    intent.mode === "exactIn" ? search.best(maxPaths) : bestOutput(intent, plan, single, { ...terms, maxPaths });
  return {
    chain: undefined,
    best: yield* search.widest(narrower),
    mostPaths: Math.min(terms.maxPaths, fits.widest(capacity)),
    isLighter: fits.leftOut(capacity).size > 0,
    narrower,
    lighter: (route, market) => allAtOnce(search.lighter(route, market)),
    hasNoLighter: (kind) => fits.hasNoLighter(`${kind}, ${terms.maxPaths} paths`),
    findsNoLighter: (kind) => fits.findsNoLighter(`${kind}, ${terms.maxPaths} paths`),
    leavesOut: (route) => fits.leavesOut(capacity, search.leftOutOf(route)),
    neverFits: (paths) => fits.neverFits(capacity, paths),
    unfitWorth: fits.unfitWorth(capacity),
    beginsBelow: (worth) => fits.beginsBelow(capacity, worth),
  };
}

/** The best division of an exact output over fewer paths: they take more for it, and the markets are chosen for what goes in. */
function* bestOutput(
  intent: Intent,
  plan: SplitPlan,
  single: Route | undefined,
  terms: SearchTerms,
): Steps<Route | undefined> {
  return terms.maxPaths < 2 ? undefined : (yield* dividedBy(intent, plan, single, terms))?.best;
}

function leadsToHubs({ inMint, outMint }: Intent, crossings: readonly MintCrossing[]): boolean {
  return crossings.some(({ from, to }) => from === inMint.address && to !== outMint.address);
}
