import { ceilDiv, minOf } from "../../primitives/integer.ts";
import { constantProductOut } from "../curves/constant-product.ts";
import { BPS, pumpFee } from "../pump-fees.ts";

/** A curve as one trade sees it. Reserves are the virtual ones; rates in hundredths of a percent. */
export interface CurveSide {
  readonly tokens: bigint;
  readonly quote: bigint;
  readonly protocolBps: bigint;
  /** 0 where the coin has no creator. */
  readonly creatorBps: bigint;
}

export interface CurveTrade {
  readonly tokens: bigint;
  /** What moves the curve: quote in before fees, or quote out before fees. */
  readonly net: bigint;
  /** What the wallet pays or receives. */
  readonly quote: bigint;
}

/** Both fees on a quote amount, each rounded up. */
function feesOn(amount: bigint, { protocolBps, creatorBps }: CurveSide): bigint {
  return pumpFee(amount, protocolBps) + pumpFee(amount, creatorBps);
}

/**
 * What `buy_v2` charges for `tokens`: the curve's cost rounded down plus one, then both fees rounded up.
 * `tokens` must be less than the virtual reserve.
 */
export function buyTokens(tokens: bigint, side: CurveSide): CurveTrade {
  const net = (tokens * side.quote) / (side.tokens - tokens) + 1n;
  return { tokens, net, quote: net + feesOn(net, side) };
}

/**
 * What `buy_exact_quote_in_v2` buys for a budget: the part left after fees, less one unit, through the curve, rounded down.
 * Fees are those of the part before rounding took from it, so at most one unit of the budget is left unspent.
 *
 * @returns tokens 0 when the budget is too small to buy anything
 * @see pump-sdk IDL pump, docs of `buy_exact_sol_in`
 */
export function buyWithBudget(budget: bigint, side: CurveSide): CurveTrade {
  let net = (budget * BPS) / (BPS + side.protocolBps + side.creatorBps);
  const total = net + feesOn(net, side);
  if (total > budget) net -= total - budget;
  if (net <= 1n) return { tokens: 0n, net: 0n, quote: budget };
  return {
    tokens: constantProductOut(net - 1n, side.quote, side.tokens),
    net,
    quote: minOf(total, budget),
  };
}

/** What `sell_v2` pays for `tokens`: the curve's output rounded down, less both fees rounded up; may be below zero. */
export function sellTokens(tokens: bigint, side: CurveSide): CurveTrade {
  const net = constantProductOut(tokens, side.tokens, side.quote);
  return { tokens, net, quote: net - feesOn(net, side) };
}

/**
 * The least tokens whose sale pays at least `wanted`. What it really pays may be more, where a token is worth more than one
 * unit of the quote.
 *
 * @returns undefined when no amount does
 */
export function sellForQuote(wanted: bigint, side: CurveSide): CurveTrade | undefined {
  const rate = side.protocolBps + side.creatorBps;
  if (rate >= BPS) return undefined;
  for (let net = ceilDiv(wanted * BPS, BPS - rate); net < side.quote; ) {
    if (net - feesOn(net, side) < wanted) {
      net++;
      continue;
    }
    const trade = sellTokens(ceilDiv(net * side.tokens, side.quote - net), side);
    if (trade.quote >= wanted) return trade;
    net = trade.net + 1n;
  }
  return undefined;
}
