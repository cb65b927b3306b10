import type { Intent } from "../../../intent.ts";
import type { Steps } from "../../long-searches.ts";
import type { Route } from "../../route.ts";
import type { SplitPlan } from "../split-plans.ts";
import { gainOf, type SearchTerms, SplitSearch } from "../split-search.ts";
import type { Sizing } from "./sizing.ts";

/** If a trade takes this much more or less than its markets were chosen for, others may be better; they are chosen again at most so often. Fraction. */
const LEAST_MISSED = 0.03;
const MOST_RESIZED = 2;
/** If fewer paths give too little of an exact output, the markets are chosen again for as much more input as that needs at their mean price, times this. */
const MORE = 1.05;
/** Where markets are full, the markets that are best for this many times the trade are compared: the narrowing finds others for it. */
const LARGER = 1.08;

/** A sizing, and the best route by it. */
interface Sized {
  readonly sizing: Sizing;
  readonly route: Route | undefined;
}

/**
 * The best sizing of an exact output.
 *
 * @param first for the input that all paths together take
 */
export function* outputSizing(intent: Intent, plan: SplitPlan, first: Sizing, terms: SearchTerms): Steps<Sizing> {
  const sized = function* (sizing: Sizing): Steps<Sized> {
    return { sizing, route: yield* new SplitSearch(intent, plan, sizing, terms).best(terms.maxPaths) };
  };
  let best: Sized = yield* sized(first);
  if (best.route === undefined && (yield* first.widestOut()) >= first.size.outAmount)
    best = yield* sized(first.resized({ takesLess: true }));
  if (best.route === undefined) best = yield* withMore(first, terms.maxPaths, sized);
  for (let resized = 0; best.route !== undefined && resized < MOST_RESIZED; resized++) {
    const { sizing, route }: Sized = best;
    const inAmount = Number(route!.inAmount);
    if (Math.abs(inAmount / sizing.inputFor(intent) - 1) < LEAST_MISSED) break;
    const other: Sized = yield* sized(sizing.resized({ inAmount, outAmount: Number(intent.amount) }));
    if (other.route === undefined || gainOf(intent, other.route, route!) <= 0) break;
    best = other;
  }
  if (best.route === undefined) return first;
  if (!(yield* best.sizing.fillsMarket(terms.maxPaths))) return best.sizing;
  const larger = { inAmount: Number(best.route.inAmount) * LARGER, outAmount: Number(intent.amount) * LARGER };
  const other: Sized = yield* sized(best.sizing.resized(larger));
  return other.route !== undefined && gainOf(intent, other.route, best.route) > 0 ? other.sizing : best.sizing;
}

/** The best route for more input: fewer paths need more of it than all of them. */
function* withMore(first: Sizing, maxPaths: number, sized: (sizing: Sizing) => Steps<Sized>): Steps<Sized> {
  let last: Sized = { sizing: first, route: undefined };
  for (let enlarged = 0; last.route === undefined && enlarged < MOST_RESIZED; enlarged++) {
    const { sizing }: Sized = last;
    const { inAmount, outAmount } = sizing.size;
    const shape = yield* sizing.shapeFor(maxPaths, new Set());
    if (shape === undefined || shape.outAmount >= outAmount) break;
    last = yield* sized(sizing.resized({ inAmount: ((inAmount * outAmount) / shape.outAmount) * MORE }));
  }
  return last;
}
