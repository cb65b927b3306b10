import { ceilDiv, minOf } from "../../primitives/integer.ts";
import { BPS, type PumpFees, pumpFee } from "../shared/pump-fees.ts";
import { constantProductOut } from "./constant-product.ts";

/** A Pump coin's market for one trade: reserves as priced, in base units, and the fee rates on the quote. */
export interface PumpSide {
  readonly tokens: bigint;
  readonly quote: bigint;
  /** The creator's rate is 0 if the coin has no creator. */
  readonly fees: PumpFees;
}

/** A trade on a curve of pump_fun or PumpSwap. Base units. */
export interface PumpTrade {
  readonly tokens: bigint;
  /** Quote amount on the curve, before fees. */
  readonly net: bigint;
  /** What its fees are charged on: `net`, or what that was before rounding took units of it to stay within a budget. */
  readonly feeBase: bigint;
  /** Quote amount that the wallet pays or receives. */
  readonly quote: bigint;
}

/** Sum of all fees on a quote amount, each rounded up. */
export function pumpFeesOn(amount: bigint, { lp, protocol, creator }: PumpFees): bigint {
  return pumpFee(amount, lp) + pumpFee(amount, protocol) + pumpFee(amount, creator);
}

/**
 * Tokens for an exact budget of the quote: the part left after fees, less one unit, through the curve, rounded down.
 * Fees are those of that part before rounding, so at most one unit of the budget stays unspent.
 *
 * @returns tokens 0 if the budget is too small to buy anything
 * @see pump-sdk IDL pump, docs of `buy_exact_sol_in`
 */
export function buyWithBudget(budget: bigint, side: PumpSide): PumpTrade {
  const { lp, protocol, creator } = side.fees;
  const feeBase = (budget * BPS) / (BPS + lp + protocol + creator);
  const total = feeBase + pumpFeesOn(feeBase, side.fees);
  const net = total > budget ? feeBase - (total - budget) : feeBase;
  if (net <= 1n) return { tokens: 0n, net: 0n, feeBase: 0n, quote: budget };
  return {
    tokens: constantProductOut(net - 1n, side.quote, side.tokens),
    net,
    feeBase,
    quote: minOf(total, budget),
  };
}

/** Proceeds of selling `tokens`: the curve's output rounded down, less all fees rounded up. May be below zero. */
export function sellTokens(tokens: bigint, side: PumpSide): PumpTrade {
  const net = constantProductOut(tokens, side.tokens, side.quote);
  return { tokens, net, feeBase: net, quote: net - pumpFeesOn(net, side.fees) };
}

/**
 * The least tokens whose sale pays at least `wanted`. It may pay more if a token is worth more than one unit of the quote.
 *
 * @returns undefined if no amount does
 */
export function sellForQuote(wanted: bigint, side: PumpSide): PumpTrade | undefined {
  const { lp, protocol, creator } = side.fees;
  const rate = lp + protocol + creator;
  if (rate >= BPS) return undefined;
  for (let net = ceilDiv(wanted * BPS, BPS - rate); net < side.quote; ) {
    if (net - pumpFeesOn(net, side.fees) < wanted) {
      net++;
      continue;
    }
    const trade = sellTokens(ceilDiv(net * side.tokens, side.quote - net), side);
    if (trade.quote >= wanted) return trade;
    net = trade.net + 1n;
  }
  return undefined;
}
