import type { VenueFacts } from "../venue-facts.ts";

export const meteoraDbcFacts: VenueFacts = {
  curve: "a curve of several stretches",
  modelled: "stretches of liquidity, fee schedules, rate limiters, volatility fees, first-swap fee, completion",
  exactOut: "yes",
  proof: "build of March 2026",
  uncertain: "coins with a transfer hook are refused",
  measured: { trades: 5_082, mismatches: 0, maxUnits: 70_685, worstUnitRatio: 1.17, maxBytes: 636 },
};
