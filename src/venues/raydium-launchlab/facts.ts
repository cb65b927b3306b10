import type { VenueFacts } from "../venue-facts.ts";

export const raydiumLaunchlabFacts: VenueFacts = {
  curve: "a bonding curve",
  modelled: "three curve shapes, platform and creator fees, transfer fees, sell-out",
  exactOut: "yes",
  proof:
    "published interface and formulas only: the program is closed. A stand-in on the embedded chain was written from the same facts, apart from the venue. Three recorded buys on constant-product curves are equal, fees included",
  uncertain:
    "where a linear curve starts a trade and how its root rounds, everything that rounds in fixed-price curves, and compute units",
  measured: undefined,
};
