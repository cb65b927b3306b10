import type { VenueFacts } from "../venue-facts.ts";

export const pumpSwapFacts: VenueFacts = {
  curve: "a constant product",
  modelled: "fee tiers by market cap, creator fees, cashback, mayhem, virtual quote, pools of every size of account",
  exactOut: "buys yes; sales inverse",
  proof: "the same",
  uncertain: "which build is deployed. Tokens with a transfer fee are refused",
  measured: { trades: 2_486, mismatches: 0, maxUnits: 160_076, worstUnitRatio: 1.16, maxBytes: 1_047 },
};
