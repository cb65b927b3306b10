import { type PumpSide, type PumpTrade, pumpFeesOn } from "../curves/pump.ts";

/**
 * What `buy_v2` charges for `tokens`: the curve's cost rounded down plus one, then the fees rounded up.
 * `tokens` must be less than the virtual reserve.
 */
export function buyTokens(tokens: bigint, side: PumpSide): PumpTrade {
  const net = (tokens * side.quote) / (side.tokens - tokens) + 1n;
  return { tokens, net, feeBase: net, quote: net + pumpFeesOn(net, side.fees) };
}
