import type { SwapBounds } from "../match-swap.ts";
import type { TradeExpectation } from "../trade-expectation.ts";
import type { ExpectedLeg } from "./announced-route.ts";

/**
 * What is wrong with one swap of a divided trade, whatever its sums are: a share that moved to another path, or a bound that the
 * announced amounts cannot meet, so that another path may fall short by as much.
 *
 * @param slack what a vault may round down after the program's check. Base units
 */
export function pathFault(
  { mode, inMint, outMint }: Pick<TradeExpectation, "mode" | "inMint" | "outMint">,
  leg: ExpectedLeg,
  { mostIn, leastOut }: SwapBounds,
  slack: bigint,
): string | undefined {
  if (leg.inMint === inMint && (mode === "exactIn" ? mostIn !== leg.inAmount : mostIn < leg.inAmount)) {
    return `its input is up to ${mostIn} base units, but the service announced ${leg.inAmount} for this market`;
  }
  if (leg.outMint === outMint && leastOut > leg.outAmount + slack) {
    return `its minimum output is ${leastOut} base units, but the service announced ${leg.outAmount} for this market`;
  }
  return undefined;
}
