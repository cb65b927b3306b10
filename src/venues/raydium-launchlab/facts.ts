import type { VenueFacts } from "../venue-facts.ts";

export const raydiumLaunchlabFacts: VenueFacts = {
  curve: "a bonding curve",
  modelled: "three curve shapes, platform and creator fees, transfer fees, sell-out",
  exactOut: "yes",
  proof:
    "published interface and formulas only: the program is closed. A stand-in on the embedded chain was written from the same facts, apart from the venue. Three recorded buys and a sale on constant-product curves are equal, fees included; the sale used 78,407 compute units of the 120,000 that are asked for",
  uncertain:
    "where a linear curve starts a trade and how its root rounds, and everything that rounds in fixed-price curves: such markets are proven only by `proof.checked`, which `requireChecked` insists on",
  measured: undefined,
};
