import { u16Entry, type VenueFacts } from "../venue-facts.ts";
import { WHIRLPOOL_PROGRAM, WHIRLPOOLS_CONFIG } from "./layout.ts";

export const orcaWhirlpoolFacts: VenueFacts = {
  curve: "concentrated liquidity",
  modelled: "ticks and arrays of both kinds, fees that follow volatility, transfer fees",
  exactOut: "yes",
  proof:
    "builds deployed from September 2024 to September 2025, a SOL/USDC pool of mainnet, and every swap of 2022-04-06 replayed; fees that follow volatility on builds since May 2025, dynamic arrays since July 2025",
  uncertain: "builds after September 2025: no public copy",
  measured: { trades: 15_012, mismatches: 0, maxUnits: 1_096_129, worstUnitRatio: 1.32, maxBytes: 717 },
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
