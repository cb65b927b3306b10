import { u16Entry, type VenueFacts } from "../venue-facts.ts";
import { CPMM_PROGRAM } from "./layout.ts";

export const raydiumCpmmFacts: VenueFacts = {
  curve: "a constant product",
  modelled: "trade, protocol, fund and creator fees, transfer fees",
  exactOut: "yes",
  proof: "build of February 2025; stand-in for creator fees",
  uncertain:
    "which build is deployed: a newer source shares the creator fee when it is collected, which no copy here does",
  measured: { trades: 4_301, mismatches: 0, maxUnits: 48_058, worstUnitRatio: 1.14, maxBytes: 632 },
  lists: [
    {
      constant: "CPMM_CONFIG_INDICES",
      shape: "list",
      program: CPMM_PROGRAM,
      kinds: [{ discriminator: "daf42168cbcb2b6f", entry: u16Entry(10) }],
    },
  ],
};
