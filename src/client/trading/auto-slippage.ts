import type { PriceQuote } from "../answers/answers.ts";
import { checkLimitForms } from "../order/limit-forms.ts";
import { type RouteLimits, routeLimitsOf, type TradeLimits } from "../order/limits.ts";
import type { CallControl } from "../order/options.ts";
import type { BuyOrder, SellOrder, SettledOrder, SwapOrder } from "../order/order.ts";
import type { SlippageBasis } from "../proof/slippage-basis.ts";
import { type TradeError, unsigned } from "../trade-error.ts";

/** The cap on a chosen slippage if the caller sets none, a fraction. */
export const DEFAULT_MAX_SLIPPAGE = 0.03;
/** Fewer samples say nothing of one in twenty. */
const LEAST_SAMPLES = 20;
const LEAST_QUANTILE = 0.5;
/** Slippages are rounded up to a ten-thousandth, and at least one: a still price still rounds. */
const STEPS = 10_000;

/**
 * The least slippage that covers how the price has moved, as the service observed it.
 *
 * @param cap never exceeded, whatever the service says
 * @throws TradeError SLIPPAGE_UNKNOWN if the service has not observed enough, or says what cannot be: nothing is guessed
 */
export function autoSlippage(moved: PriceQuote["priceMovement"], cap: number): SlippageBasis {
  const { movement, quantile = 0, samples = 0, windowSeconds = 0, spanSeconds = 0 } = moved ?? {};
  if (typeof movement !== "number" || !(samples >= LEAST_SAMPLES)) {
    throw unknown(`the service has observed its price from ${Number(samples) || 0} moments only`);
  }
  const isSane =
    movement >= 0 &&
    movement <= 1 &&
    quantile >= LEAST_QUANTILE &&
    quantile < 1 &&
    spanSeconds > 0 &&
    windowSeconds >= 0 &&
    Number.isFinite(spanSeconds + windowSeconds + samples);
  if (!isSane) throw unknown("what the service says of it cannot be");
  const wanted = Math.max(1, Math.ceil(Number((movement * STEPS).toPrecision(12)))) / STEPS;
  const slippage = Math.min(wanted, cap);
  const basis = { movement, quantile, samples, windowSeconds, spanSeconds };
  return { slippage, ...basis, maxSlippage: cap, isCapped: wanted > cap };
}

/** A trade as a quote is asked for it, without slippage. */
export type SlippageAsk = Omit<SwapOrder, "priority" | "slippage">;

/**
 * The order with its slippage as a number: an automatic one by what the service has observed of the pair.
 *
 * @param quote asks the service for a price
 * @throws TradeError SLIPPAGE_UNKNOWN, and what `quote` throws; TypeError for a share of the balance
 */
export async function settleSlippage<O extends BuyOrder | SellOrder | SwapOrder>(
  order: O,
  { inputMint, outputMint, amount, amountRaw, swapMode }: SlippageAsk,
  options: TradeLimits & CallControl,
  quote: (ask: SlippageAsk & { readonly slippage: number }, bounds: RouteLimits & CallControl) => Promise<PriceQuote>,
): Promise<{ readonly settled: SettledOrder<O>; readonly basis?: SlippageBasis }> {
  const { slippage } = order;
  if (slippage !== "auto") return { settled: { ...order, slippage } };
  if ("sellPercent" in order && order.sellPercent !== undefined) {
    throw new TypeError('slippage "auto" needs an amount: a share of the balance is known only once it is built.');
  }
  checkLimitForms(options);
  const { signal, timeoutMs, maxSlippage: cap = DEFAULT_MAX_SLIPPAGE } = options;
  const ask = { inputMint, outputMint, amount, amountRaw, swapMode, slippage: cap };
  const quoted = await quote(ask, { ...routeLimitsOf(options), signal, timeoutMs });
  const basis = autoSlippage(quoted.priceMovement, cap);
  return { settled: { ...order, slippage: basis.slippage }, basis };
}

function unknown(why: string): TradeError {
  return unsigned(
    "SLIPPAGE_UNKNOWN",
    `How far this price moves is not known: ${why}. Quote the pair for some minutes, or give slippage as a number`,
  );
}
