import { u16Entry, type VenueFacts } from "../venue-facts.ts";
import { WHIRLPOOL_PROGRAM, WHIRLPOOLS_CONFIG } from "./layout.ts";

export const orcaWhirlpoolFacts: VenueFacts = {
  curve: "concentrated liquidity",
  modelled: "ticks and arrays of both kinds, fees that follow volatility, transfer fees",
  exactOut: "yes",
  proof: "build of October 2024, a SOL/USDC pool of mainnet",
  uncertain: "dynamic arrays and adaptive fees: published layouts and formula only",
  measured: { trades: 2_531, mismatches: 0, maxUnits: 1_103_169, worstUnitRatio: 1.18, maxBytes: 717 },
  lists: [
    {
      constant: "WHIRLPOOL_FEE_TIERS",
      shape: "list",
      program: WHIRLPOOL_PROGRAM,
      // Ordinary tiers, and those whose fee follows volatility: both name their index after the configuration.
      kinds: ["384b9f4c8e44be69", "931090742f92952e"].map((discriminator) => ({
        discriminator,
        memcmp: [{ offset: 8, bytes: WHIRLPOOLS_CONFIG.bytes }],
        entry: u16Entry(40),
      })),
    },
  ],
};
