import type { VenueFacts } from "../venue-facts.ts";

export const raydiumAmmV4Facts: VenueFacts = {
  curve: "a constant product",
  modelled: "fee, profit not yet taken, states and opening times",
  exactOut: "yes",
  proof: "build of May 2025 through its older instructions; bytes of the newer ones against the source",
  uncertain: "whether the source of July 2026 is deployed",
  measured: { trades: 4_584, mismatches: 0, maxUnits: 24_363, worstUnitRatio: 1.22, maxBytes: 501 },
};
