import { u16Entry, type VenueFacts } from "../venue-facts.ts";
import { CLMM_PROGRAM } from "./layout.ts";

export const raydiumClmmFacts: VenueFacts = {
  curve: "concentrated liquidity",
  modelled:
    "ticks and arrays, bitmap extension, limit orders, fees that follow volatility, fees on a fixed side, transfer fees",
  exactOut: "yes",
  proof: "build of November 2024; what it lacks, against vectors of the public source",
  uncertain: "which build is deployed, and whether it keeps the older `swap`",
  measured: { trades: 3_170, mismatches: 0, maxUnits: 545_870, worstUnitRatio: 1.3, maxBytes: 880 },
  lists: [
    {
      constant: "CLMM_CONFIG_INDICES",
      shape: "list",
      program: CLMM_PROGRAM,
      kinds: [{ discriminator: "daf42168cbcb2b6f", entry: u16Entry(9) }],
    },
  ],
};
