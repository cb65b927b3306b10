import { formatAmount, LAMPORTS_PER_SOL } from "../../primitives/amount.ts";
import type { Unproven } from "../proof/prove-trade.ts";
import type { TradeReview } from "../proof/review.ts";
import type { SlippageBasis } from "../proof/slippage-basis.ts";
import { TradeError } from "../trade-error.ts";
import { decimal, percent } from "./print.ts";

/** How to name the two sides of a trade. */
export interface SideNames {
  readonly input: string;
  readonly output: string;
}

/** Price impact above which a trade needs --max-price-impact. */
const MOST_IMPACT = 0.05;
/** Worth of a trade above which it needs proof. Lamports. */
const MOST_UNPROVEN = LAMPORTS_PER_SOL;

const REMEDIES: Readonly<Record<Unproven, string>> = {
  price: "--min-output or --reference",
  priceImpact: "--node",
  balance: "--node",
  transferFee: "--node",
  output: "--node",
  slippage: "--slippage with a number",
  expiry: "--node",
  transaction: "verification",
};
const FACTS: Readonly<Record<Unproven, string>> = {
  price: "the price",
  priceImpact: "the price impact",
  balance: "the balance",
  transferFee: "that the token takes no fee when it arrives",
  output: "that the curve has all of the output left",
  slippage: "the slippage",
  expiry: "that it expired, before --rebuild trades again",
  transaction: "the transaction",
};

/** The impact of a trade, and who says so. */
function impactOf({ findings, built }: TradeReview): { readonly impact: number; readonly isMeasured: boolean } {
  const measured = findings?.priceImpact;
  return measured === undefined
    ? { impact: built.estimates?.priceImpact ?? 1, isMeasured: false }
    : { impact: measured, isMeasured: true };
}

/** What a trade is about to do, line by line: what leaves, what arrives, what it costs, and who says so. */
export function describeReview(review: TradeReview, { input, output }: SideNames): string[] {
  const { built, mostInputRaw, leastOutputRaw, inputDecimals, outputDecimals, findings, unproven } = review;
  const { estimates, costs, priorityCost, platform } = built;
  const { impact, isMeasured } = impactOf(review);
  const by = findings === undefined ? "the service estimates" : "simulated on your node";
  const expectedIn = amount(findings?.inputAmountRaw ?? estimates?.inputAmountRaw, inputDecimals, input);
  const expectedOut = amount(findings?.outputAmountRaw ?? estimates?.outputAmountRaw, outputDecimals, output);
  const sol = (lamports: string | undefined) => `${formatAmount(BigInt(lamports ?? "0"), 9)} SOL`;
  return [
    `Leaves    at most ${amount(mostInputRaw, inputDecimals, input)} (${by} ${expectedIn})`,
    `Arrives   at least ${amount(leastOutputRaw, outputDecimals, output)} (${by} ${expectedOut})`,
    `Impact    ${percent(impact)} (${isMeasured ? "measured on your node" : "the service's word"})`,
    `Costs     network ${sol(costs?.baseFee)}, priority ${decimal(priorityCost)} SOL, rent ${sol(costs?.rentPaid)}, rent returned ${sol(costs?.rentReturned)}`,
    `Through   ${platform}`,
    ...slippageLines(review.slippage),
    ...fitLines(estimates?.fitLoss),
    `Checked   ${checkedWords(built.proof)}`,
    unproven.length === 0
      ? "Proven    the transaction, and the price by your limit or reference"
      : `Unproven  ${unproven.map((fact) => `${FACTS[fact]} (${REMEDIES[fact]} proves it)`).join(", ")}`,
  ];
}

/** An automatic slippage and its basis; nothing if the caller typed a number. */
function slippageLines(basis: TradeReview["slippage"]): readonly string[] {
  if (basis === undefined) return [];
  const { slippage, maxSlippage, isCapped } = basis;
  const cap = `${isCapped ? "capped by" : "at most"} --max-slippage ${percent(maxSlippage)}`;
  return [`Slippage  ${percent(slippage)}, ${cap}: the price ${movementWords(basis)}, says the service`];
}

/** How far a price has moved, and the basis of that figure. */
export function movementWords(moved: Omit<SlippageBasis, "slippage" | "maxSlippage" | "isCapped">): string {
  const { movement, quantile, samples, windowSeconds, spanSeconds } = moved;
  const seconds = (exact: number) => `${decimal(Number(exact.toPrecision(3)))} s`;
  return `lost at most ${percent(movement)} within ${seconds(spanSeconds)} in ${percent(quantile)} of ${samples} samples of ${seconds(windowSeconds)}`;
}

/** What is lost because the best route fits into no transaction; nothing if it fits. */
export function fitLines(fitLoss: number | undefined): readonly string[] {
  if (fitLoss === undefined || !(fitLoss > 0)) return [];
  return [`Too big   a route worth ${percent(fitLoss)} more fits into no transaction, says the service`];
}

/** How the quote is backed, as the service says. */
export function checkedWords(proof: TradeReview["built"]["proof"]): string {
  const { checked = false, shadowSlot } = proof ?? {};
  if (!checked) return "not on the deployed programs (--require-checked refuses that)";
  return `on the deployed programs${shadowSlot === undefined ? "" : `, at slot ${shadowSlot}`}, says the service`;
}

/** An amount in whole units if the decimals are known, or else in base units: the service's scale would be its word. */
function amount(raw: string | undefined, decimals: number | undefined, symbol: string): string {
  if (raw === undefined) return `? ${symbol}`;
  return decimals === undefined ? `${raw} base units of ${symbol}` : `${formatAmount(BigInt(raw), decimals)} ${symbol}`;
}

/**
 * Refuses a trade that a careful person would not make: a high impact that was not asked for, and above 1 SOL whatever only
 * the service's word supports. A sale's worth is what the caller's node simulates; without a node nobody knows it. Rebuilds that
 * follow on the service's word count too: each may be a trade more.
 *
 * @param own the caller's bound on the impact, a fraction
 * @throws TradeError PRICE_IMPACT_TOO_HIGH, UNPROVEN
 */
export function refuseCareless(
  review: TradeReview,
  { input, output }: SideNames,
  own: number | undefined,
  rebuilds: number,
): void {
  const { impact } = impactOf(review);
  if (own === undefined && !(impact <= MOST_IMPACT)) {
    throw new TradeError(
      "PRICE_IMPACT_TOO_HIGH",
      `The trade moves the price by ${percent(impact)}. Above ${percent(MOST_IMPACT)} say so: --max-price-impact ${(Math.ceil(impact * 100) / 100).toFixed(2)} or more. Nothing was signed.`,
    );
  }
  const { unproven, mostInputRaw, findings } = review;
  const worth =
    input === "SOL"
      ? BigInt(mostInputRaw)
      : output === "SOL" && findings
        ? BigInt(findings.outputAmountRaw)
        : undefined;
  const trades = unproven.includes("expiry") ? 1n + BigInt(Math.ceil(rebuilds)) : 1n;
  if (unproven.length === 0 || (worth !== undefined && worth * trades <= MOST_UNPROVEN)) return;
  const more = trades > 1n ? ", its rebuilds included," : "";
  const what =
    worth === undefined ? "A trade whose worth in SOL only the service states" : `A trade above 1 SOL${more}`;
  const remedies = unproven.map((fact) => `${FACTS[fact]} (${REMEDIES[fact]})`).join(", ");
  throw new TradeError(
    "UNPROVEN",
    `${what} needs proof, and only the service's word supports ${remedies}. Nothing was signed.`,
  );
}

/** The review of a dry run as one object. */
export function reviewAsJson(review: TradeReview): object {
  const { built, findings, unproven, mostInputRaw, leastOutputRaw } = review;
  const { estimates, costs, priorityCost, platform, route } = built;
  const { impact, isMeasured } = impactOf(review);
  return {
    dryRun: true,
    signed: false,
    platform,
    proof: built.proof,
    mostInputRaw,
    leastOutputRaw,
    estimates,
    slippage: review.slippage,
    priceImpact: impact,
    priceImpactFrom: isMeasured ? "node" : "service",
    priorityCost,
    costs,
    route,
    unproven,
    findings,
  };
}
