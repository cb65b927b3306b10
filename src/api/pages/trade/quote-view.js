// A quote in plain words.

import { percent, toWords } from "../shared/amounts.js";
import { element } from "../shared/page.js";

const row = (name, ...value) => [element("dt", {}, name), element("dd", {}, ...value)];

/** What a quote means: rate, impact, the worst outcome, and what comes on top. */
export function describeQuote({ order, data }, tokens, level) {
  const { estimates } = data;
  const { inputMint, outputMint, swapMode, slippage } = order;
  const [input, output] = [inputMint, outputMint].map((mint) => tokens.name(mint));
  const rate = estimates.outputAmount / estimates.inputAmount;
  const exactIn = swapMode === "exactIn";
  const bound = exactIn ? outputMint : inputMint;
  const worst = toWords(estimates.otherAmountThresholdRaw, tokens.decimals(bound) ?? 0);
  const rows = [
    row("Rate", `1 ${input} = ${rate.toLocaleString("en", { maximumSignificantDigits: 7 })} ${output}`),
    row("Price impact", percent(estimates.priceImpact)),
    row(`Worst outcome at ${percent(slippage)}`, exactIn ? `at least ${worst} ${output}` : `at most ${worst} ${input}`),
    row("Venue fees", "included in the amounts"),
  ];
  if (estimates.fitLoss > 0) rows.push(row("Better, but too large", lostToFit(estimates.fitLoss)));
  if (level !== undefined) {
    const slots = Math.round(level.expectedSlots);
    const cost = level.expectedCost === 0 ? "nothing" : `about ${level.expectedCost.toFixed(9).replace(/0+$/, "")} SOL`;
    rows.push(row("Priority", `${cost}; lands in about ${slots} ${slots === 1 ? "slot" : "slots"}`));
  }
  rows.push(row("Network fee, rent", "shown after the build, to the lamport"));
  rows.push(row("Checked on the program", data.proof?.checked ? `slot ${data.proof.shadowSlot}` : "no"));
  return rows.flat();
}

/** What is lost because the best route fits into no transaction. @param fitLoss fraction of what this route is worth */
export const lostToFit = (fitLoss) => `a route worth ${percent(fitLoss)} more fits into no transaction`;

/** The markets of a route, each path with its share of the exact side. */
export function describeRoute(route, tokens) {
  return route.map((leg) => {
    const share = leg.share ?? 1;
    const path = `${tokens.name(leg.inputMint)} → ${tokens.name(leg.outputMint)}`;
    return element(
      "li",
      {},
      element("span", {}, `${leg.venue}, ${path}`),
      element("span", { class: "quiet" }, percent(share)),
      element("meter", { min: "0", max: "1", value: String(share), "aria-label": `Share of ${leg.venue}` }),
    );
  });
}

/** What speaks against a trade before anything is built, in words; undefined if nothing does. */
export function warningOf({ inputMint }, { inputAmountRaw, priceImpact }, tokens) {
  const balance = tokens.balance(inputMint);
  if (balance !== undefined && BigInt(inputAmountRaw) > balance.raw) {
    const held = `${toWords(balance.raw, balance.decimals)} ${tokens.name(inputMint)}`;
    return `The wallet holds ${held}: less than this trade takes.`;
  }
  if (priceImpact > 0.05)
    return `This trade moves the price by ${percent(priceImpact)}. A smaller one gets a better price.`;
  return undefined;
}
