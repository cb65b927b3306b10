import type { VenueFacts } from "../venue-facts.ts";

export const meteoraDbcFacts: VenueFacts = {
  curve: "a curve of several stretches",
  modelled: "stretches of liquidity, fee schedules, rate limiters, volatility fees, first-swap fee, completion",
  exactOut: "yes",
  proof: "build of March 2026",
  uncertain: "coins with a transfer hook, or a transfer fee now or in the next epoch, are refused",
  measured: { trades: 5_082, mismatches: 0, maxUnits: 70_685, worstUnitRatio: 1.26, maxBytes: 636 },
};
