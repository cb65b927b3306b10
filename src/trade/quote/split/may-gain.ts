import type { Intent } from "../../intent.ts";
import type { Route } from "../route.ts";
import { hasCappedFee } from "./capped-fees.ts";
import type { MintCrossing } from "./network.ts";
import { bestRateOf, boundedRateOf, LEAST_SPLIT_GAIN, type PlanTerms } from "./split-plans.ts";

/** False if dividing a trade cannot gain: no division gives more for the whole than the best price for its first part. */
export function mayGain(
  intent: Intent,
  crossings: readonly MintCrossing[],
  { inAmount, outAmount }: Pick<Route, "inAmount" | "outAmount">,
  terms: PlanTerms,
): boolean {
  // The first part may pay all of a fee that the others then share.
  if (hasCappedFee(intent, terms.clock)) return true;
  const least = (Number(outAmount) * (1 + LEAST_SPLIT_GAIN)) / Number(inAmount);
  return boundedRateOf(crossings) >= least && bestRateOf(intent, crossings, terms) >= least;
}
