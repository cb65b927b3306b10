import type { TradeLimits } from "../order/limits.ts";
import { unsigned } from "../trade-error.ts";
import { isShare, type TradeOrder } from "../verify/trade-expectation.ts";
import { checkReference, DEFAULT_TOLERANCE, type PriceReference } from "./reference.ts";
import type { SlippageBasis } from "./slippage-basis.ts";
import type { NodeFindings, NodeTrade, TradeNode } from "./trade-node.ts";
import { isBoundGross, mayCutOutput } from "./transfer-fee.ts";

/**
 * What nobody but the service says of a trade: its price, how far it moves the price, the balance that a share is taken of, on venues
 * whose bounds leave it out that a Token-2022 token takes no fee when it arrives, on one that cuts an exact purchase down to what its
 * curve has left that the output arrives whole, a slippage that was chosen by the price's past movement, and that the transaction
 * expired before another is signed in its place. "transaction" stands for everything, with verification off.
 */
export type Unproven =
  | "price"
  | "priceImpact"
  | "balance"
  | "transferFee"
  | "output"
  | "slippage"
  | "expiry"
  | "transaction";

/** What a client has besides the transaction to prove a trade with. */
export interface TradeWitnesses {
  readonly node: TradeNode | undefined;
  readonly reference: PriceReference | undefined;
  readonly tolerance: number | undefined;
  readonly requireProof: boolean;
  /** True if the caller has the trade built again after an expiry, and proves none by itself. */
  readonly rebuilds?: boolean;
}

/** What was proven of a trade before it is signed. */
export interface TradeProof {
  readonly unproven: readonly Unproven[];
  /** What the caller's node found; undefined without a node. */
  readonly findings: NodeFindings | undefined;
  /** What an automatic slippage was chosen by; undefined if the caller typed it. */
  readonly slippage?: SlippageBasis | undefined;
}

/** A trade to prove, and what the service said of it. */
export interface ClaimedTrade extends NodeTrade {
  readonly order: TradeOrder;
  readonly limits: TradeLimits;
  /** The service's estimates. Base units. */
  readonly estimates: { readonly inputAmountRaw: string; readonly outputAmountRaw: string };
}

/** How to prove each fact. */

const REMEDIES: Readonly<Record<Unproven, string>> = {
  price: "give minOutputAmount (or minOutputRaw), or a reference",
  priceImpact: "give a node",
  balance: "give a node, or the exact amount",
  transferFee: "give a node",
  output: "give a node",
  slippage: "give slippage as a number",
  expiry: "give a node, or rebuild.proveExpiry",
  transaction: 'leave verify "on"',
};

/**
 * Proves what the transaction alone cannot show, as far as the caller's witnesses allow.
 * @throws TradeError PRICE_IMPACT_TOO_HIGH, PRICE_CONTRADICTED, UNPROVEN if proof is required and something is not proven,
 * and what the node and the reference throw
 */
export async function proveTrade(
  trade: ClaimedTrade,
  witnesses: TradeWitnesses,
  signal: AbortSignal,
): Promise<TradeProof> {
  const { node, reference, tolerance, requireProof } = witnesses;
  // What no witness can prove is refused before any is asked.
  if (requireProof) refuseUnproven(unprovenOf(trade, witnesses, node !== undefined));
  const findings = await node?.check(trade, signal);
  const { maxPriceImpact } = trade.limits;
  if (maxPriceImpact !== undefined && (findings?.priceImpact ?? 0) > maxPriceImpact) {
    throw unsigned(
      "PRICE_IMPACT_TOO_HIGH",
      `Measured on your node, the trade moves the price by ${findings?.priceImpact?.toPrecision(4)}, more than ${maxPriceImpact}`,
    );
  }
  if (reference !== undefined) {
    const { inputAmountRaw, outputAmountRaw } = trade.estimates;
    const estimated = BigInt(trade.expected.mode === "exactIn" ? outputAmountRaw : inputAmountRaw);
    await checkReference(reference, tolerance ?? DEFAULT_TOLERANCE, trade.expected, estimated, signal);
  }
  const unproven = unprovenOf(trade, witnesses, findings?.priceImpact !== undefined);
  if (requireProof) refuseUnproven(unproven);
  return { unproven, findings, slippage: trade.order.slippageBasis };
}

function unprovenOf(
  { order, limits, transaction, expected }: ClaimedTrade,
  { node, reference, rebuilds }: TradeWitnesses,
  isMeasured: boolean,
): Unproven[] {
  const isBounded =
    order.swapMode === "exactOut" || (limits.minOutputAmount ?? 0) > 0 || BigInt(limits.minOutputRaw ?? 0) > 0n;
  const isPriced = isBounded || reference !== undefined;
  const isBlind = node === undefined;
  const facts: Readonly<Partial<Record<Unproven, boolean>>> = {
    price: !isPriced,
    // A bounded price bounds what the impact can cost; a limit on the impact itself needs somebody who measures it.
    priceImpact: !isMeasured && (!isPriced || limits.maxPriceImpact !== undefined),
    balance: isBlind && isShare(order),
    transferFee: isBlind && isBoundGross(transaction, expected),
    output: isBlind && mayCutOutput(transaction),
    slippage: order.slippageBasis !== undefined,
    expiry: isBlind && rebuilds === true,
  };
  return (Object.keys(facts) as Unproven[]).filter((fact) => facts[fact]);
}

function refuseUnproven(unproven: readonly Unproven[]): void {
  if (unproven.length === 0) return;
  const remedies = unproven.map((fact) => `${fact} (${REMEDIES[fact]})`);
  throw unsigned("UNPROVEN", `Only the service's word supports ${remedies.join(", ")}`);
}
