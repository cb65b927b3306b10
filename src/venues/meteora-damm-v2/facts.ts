import { readU64 } from "../../primitives/bytes.ts";
import { NOBODY, type VenueFacts } from "../venue-facts.ts";
import { DAMM_V2_PROGRAM } from "./layout.ts";

export const meteoraDammV2Facts: VenueFacts = {
  curve: "constant liquidity",
  modelled:
    "one range or compounding, fee schedules by time and market cap, rate limiters, volatility fees, transfer fees",
  exactOut: "yes",
  proof: "build of March 2026",
  uncertain: "what later builds added beside swaps",
  measured: { trades: 6_242, mismatches: 0, maxUnits: 43_754, worstUnitRatio: 1.37, maxBytes: 603 },
  lists: [
    {
      constant: "DAMM_V2_PUBLIC_CONFIGS",
      shape: "list",
      program: DAMM_V2_PROGRAM,
      kinds: [
        {
          discriminator: "9b0caae01efacc82",
          memcmp: [{ offset: 40, bytes: NOBODY }],
          entry: ({ address, data }) => ({ value: address.toString(), order: readU64(data, 208) }),
        },
      ],
    },
  ],
};
