import type { VenueFacts } from "../venue-facts.ts";

export const pumpSwapFacts: VenueFacts = {
  curve: "a constant product",
  modelled: "fee tiers by market cap, creator fees, cashback, mayhem, virtual quote, pools of every size of account",
  exactOut: "buys yes; sales inverse",
  proof: "the same",
  uncertain: "which build is deployed. Tokens with a transfer fee are refused, as builds differ",
  measured: { trades: 4_098, mismatches: 0, maxUnits: 160_076, worstUnitRatio: 1.18, maxBytes: 1_047 },
};
