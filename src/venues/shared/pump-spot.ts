import type { PumpSide } from "../curves/pump.ts";
import { productBound, type SpotBound } from "../spot-bound.ts";

/** Fee rates are in ten-thousandths. */
const BPS = 1e4;

/** The bound of a Pump coin's market: fees are taken of the quote, and added to what a buy costs. */
export function pumpSpot({ tokens, quote, fees: { lp, protocol, creator } }: PumpSide): SpotBound {
  const rate = Number(lp + protocol + creator) / BPS;
  const bought = 1 / (1 + rate);
  return productBound(Number(tokens), Number(quote), { in0: 1, out0: Math.max(0, 1 - rate), in1: bought, out1: 1 });
}
