import { meteoraDammV1 } from "./meteora-damm-v1/venue.ts";
import { meteoraDammV2 } from "./meteora-damm-v2/venue.ts";
import { meteoraDbc } from "./meteora-dbc/venue.ts";
import { meteoraDlmm } from "./meteora-dlmm/venue.ts";
import { orcaWhirlpool } from "./orca-whirlpool/venue.ts";
import { pumpFun } from "./pump-fun/venue.ts";
import { pumpSwap } from "./pump-swap/venue.ts";
import { raydiumAmmV4 } from "./raydium-amm-v4/venue.ts";
import { raydiumClmm } from "./raydium-clmm/venue.ts";
import { raydiumCpmm } from "./raydium-cpmm/venue.ts";
import { raydiumLaunchlab } from "./raydium-launchlab/venue.ts";
import { sameShape } from "./same-shape.ts";
import type { Venue } from "./venue.ts";

const ordered: readonly Venue[] = [
  pumpFun,
  pumpSwap,
  raydiumCpmm,
  meteoraDammV2,
  meteoraDbc,
  orcaWhirlpool,
  meteoraDlmm,
  raydiumClmm,
  raydiumAmmV4,
  raydiumLaunchlab,
  meteoraDammV1,
];

/** All venues. The order is the last tie-breaker between equal quotes. */
export const venues: readonly Venue[] = ordered.map(sameShape);
