import { u16Entry, type VenueFacts } from "../venue-facts.ts";
import { DLMM_PROGRAM } from "./layout.ts";

export const meteoraDlmmFacts: VenueFacts = {
  curve: "bins",
  modelled: "bins, volatility fees with their clock, limit orders, fee sides, rewards of providers, transfer fees",
  exactOut: "yes",
  proof: "builds of March 2026, and with limit orders one of May made for a local chain",
  uncertain: "how many presets exist; whether newer builds keep the older instructions",
  measured: { trades: 2_574, mismatches: 0, maxUnits: 697_972, worstUnitRatio: 1.21, maxBytes: 771 },
  lists: [
    {
      constant: "DLMM_PRESET_COUNT",
      shape: "count",
      program: DLMM_PROGRAM,
      kinds: [{ discriminator: "abec9473a271deae", entry: u16Entry(28) }],
    },
  ],
};
