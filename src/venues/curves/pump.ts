import { ceilDiv, minOf } from "../../primitives/integer.ts";
import { BPS, type PumpFees, pumpFee } from "../shared/pump-fees.ts";
import { constantProductOut } from "./constant-product.ts";

/** A Pump coin's market as one trade sees it: reserves as priced, in base units, and the fee rates on the quote. */
export interface PumpSide {
  readonly tokens: bigint;
  readonly quote: bigint;
  /** The creator's rate is 0 where the coin has no creator. */
  readonly fees: PumpFees;
}

export interface PumpTrade {
  readonly tokens: bigint;
  /** What moves the curve: quote in before fees, or quote out before fees. */
  readonly net: bigint;
  /** What the wallet pays or receives. */
  readonly quote: bigint;
}

/** All fees on a quote amount, each rounded up. */
export function pumpFeesOn(amount: bigint, { lp, protocol, creator }: PumpFees): bigint {
  return pumpFee(amount, lp) + pumpFee(amount, protocol) + pumpFee(amount, creator);
}

/**
 * What an exact budget of the quote buys: the part left after fees, less one unit, through the curve, rounded down.
 * Fees are those of the part before rounding took from it, so at most one unit of the budget is left unspent.
 *
 * @returns tokens 0 when the budget is too small to buy anything
 * @see pump-sdk IDL pump, docs of `buy_exact_sol_in`
 */
export function buyWithBudget(budget: bigint, side: PumpSide): PumpTrade {
  const { lp, protocol, creator } = side.fees;
  let net = (budget * BPS) / (BPS + lp + protocol + creator);
  const total = net + pumpFeesOn(net, side.fees);
  if (total > budget) net -= total - budget;
  if (net <= 1n) return { tokens: 0n, net: 0n, quote: budget };
  return {
    tokens: constantProductOut(net - 1n, side.quote, side.tokens),
    net,
    quote: minOf(total, budget),
  };
}

/** What a sale of `tokens` pays: the curve's output rounded down, less all fees rounded up; may be below zero. */
export function sellTokens(tokens: bigint, side: PumpSide): PumpTrade {
  const net = constantProductOut(tokens, side.tokens, side.quote);
  return { tokens, net, quote: net - pumpFeesOn(net, side.fees) };
}

/**
 * The least tokens whose sale pays at least `wanted`. What it really pays may be more, where a token is worth more than one
 * unit of the quote.
 *
 * @returns undefined when no amount does
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
