import type { TradeLimits } from "../order/limits.ts";
import { TradeError } from "../trade-error.ts";
import { isShare, type TradeOrder } from "../verify/trade-expectation.ts";
import { checkReference, DEFAULT_TOLERANCE, type PriceReference } from "./reference.ts";
import type { SlippageBasis } from "./slippage-basis.ts";
import type { NodeFindings, NodeTrade, TradeNode } from "./trade-node.ts";
import { isBoundGross } from "./transfer-fee.ts";

/**
 * What nobody but the service says of a trade: its price, how far it moves the price, the balance that a share is taken of, a slippage
 * that was chosen by the price's past movement, on venues whose bounds leave it out that a Token-2022 token takes no fee when it
 * arrives, and that the transaction expired before another is signed in its place. "transaction" stands for everything, with
 * verification off.
 */
export type Unproven = "price" | "priceImpact" | "balance" | "transferFee" | "slippage" | "expiry" | "transaction";

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
    throw new TradeError(
      "PRICE_IMPACT_TOO_HIGH",
      `Measured on your node, the trade moves the price by ${findings?.priceImpact?.toPrecision(4)}, more than ${maxPriceImpact}. Nothing was signed.`,
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
  const unproven: Unproven[] = [];
  const hasNode = node !== undefined;
  const isBounded =
    order.swapMode === "exactOut" || (limits.minOutputAmount ?? 0) > 0 || BigInt(limits.minOutputRaw ?? 0) > 0n;
  const isPriced = isBounded || reference !== undefined;
  if (!isPriced) unproven.push("price");
  // A bounded price bounds what the impact can cost; a limit on the impact itself needs somebody who measures it.
  if (!isMeasured && (!isPriced || limits.maxPriceImpact !== undefined)) unproven.push("priceImpact");
  if (!hasNode && isShare(order)) unproven.push("balance");
  if (!hasNode && isBoundGross(transaction, expected)) unproven.push("transferFee");
  if (order.slippageBasis !== undefined) unproven.push("slippage");
  if (!hasNode && rebuilds === true) unproven.push("expiry");
  return unproven;
}

function refuseUnproven(unproven: readonly Unproven[]): void {
  if (unproven.length === 0) return;
  const remedies = unproven.map((fact) => `${fact} (${REMEDIES[fact]})`);
  throw new TradeError("UNPROVEN", `Only the service's word supports ${remedies.join(", ")}. Nothing was signed.`);
}
