import type { VenueFacts } from "../venue-facts.ts";

export const pumpFunFacts: VenueFacts = {
  curve: "a bonding curve",
  modelled:
    "virtual reserves, fee tiers by market cap, creator, holder, cashback and mayhem coins, shared creator fees, coins quoted in tokens, completion of the curve, older curves that the first trade enlarges at the wallet's expense",
  exactOut: "buys yes; sales inverse",
  proof: "three builds of 2026 from an MIT package; vectors of the official MIT SDK; stand-in on the embedded chain",
  uncertain:
    "which build is deployed, and whether it keeps the older instructions. Tokens with a transfer fee are refused, as builds differ. Compute units of coins quoted in tokens are bounded loosely. The first trade on a curve whose account is shorter than 166 bytes (141 on the oldest of the builds) enlarges it: a build counts that rent, 594,360 lamports at 49 bytes and 5,080 a byte, and a receipt what was paid. Another program may take less. A curve whose account names wrapped SOL, instead of nothing, is refused",
  measured: { trades: 4_078, mismatches: 0, maxUnits: 170_757, worstUnitRatio: 1.21, maxBytes: 1_062 },
};
