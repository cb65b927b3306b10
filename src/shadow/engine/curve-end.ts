import { executeTaking, type Subject, show } from "./execute-sample.ts";
import type { Sample } from "./sample-sizes.ts";
import type { ShadowSvm } from "./shadow-svm.ts";

/** By this part of what a curve takes at most, a trade goes beyond its end: enough to buy something, less than a program refuses anyway. */
const BEYOND_DIVISOR = 8n;

/**
 * Checks that a curve ends on the deployed program where it ends for us: an input beyond the curve's maximum must give no more
 * than the maximum does. A program that goes on beyond it rounds the completing trade differently on most states, but not on all,
 * so that trade alone does not show the difference.
 *
 * @param last the trade that completes the curve, exactIn
 * @returns what differs, in words and numbers
 */
export function differenceBeyondEnd(svm: ShadowSvm, subject: Subject, last: Sample): string | undefined {
  const { inMint, inAmount, outAmount } = last.quote;
  const moved = executeTaking(svm, subject, last, inAmount + inAmount / BEYOND_DIVISOR + 1n);
  if (moved === undefined || moved.outAmount <= outAmount) return undefined;
  return `exactIn from ${inMint}: the curve takes ${inAmount} for ${outAmount} at most, the program moves ${show(moved)}`;
}
