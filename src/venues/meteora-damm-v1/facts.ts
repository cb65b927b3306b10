import { NOBODY, type VenueFacts } from "../venue-facts.ts";
import { DAMM_V1_PROGRAM } from "./layout.ts";

export const meteoraDammV1Facts: VenueFacts = {
  curve: "a stable curve",
  modelled: "shared vaults with profit that unlocks, constant product, stable curves, staked SOL",
  exactOut: "inverse",
  proof: "builds of January 2026, a pool of mainnet",
  uncertain: "other stake pools than Marinade's",
  measured: { trades: 4_294, mismatches: 0, maxUnits: 348_295, worstUnitRatio: 1.23, maxBytes: 731 },
  lists: [
    {
      constant: "DAMM_V1_CONFIGS",
      shape: "list",
      program: DAMM_V1_PROGRAM,
      // Only those under which anybody may make a pool.
      kinds: [
        {
          discriminator: "9b0caae01efacc82",
          memcmp: [{ offset: 80, bytes: NOBODY }],
          entry: ({ address }) => ({ value: address.toString(), order: 0n }),
        },
      ],
    },
  ],
};
