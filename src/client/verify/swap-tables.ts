import type { SwapTable } from "./swap-table.ts";
import { meteoraDammV1 } from "./venues/meteora-damm-v1.ts";
import { meteoraDammV2 } from "./venues/meteora-damm-v2.ts";
import { meteoraDbc } from "./venues/meteora-dbc.ts";
import { meteoraDlmm } from "./venues/meteora-dlmm.ts";
import { orcaWhirlpool } from "./venues/orca-whirlpool.ts";
import { pumpFun } from "./venues/pump-fun.ts";
import { pumpSwap } from "./venues/pump-swap.ts";
import { raydiumAmmV4 } from "./venues/raydium-amm-v4.ts";
import { raydiumClmm } from "./venues/raydium-clmm.ts";
import { raydiumCpmm } from "./venues/raydium-cpmm.ts";
import { raydiumLaunchlab } from "./venues/raydium-launchlab.ts";

/** Every swap instruction this library knows. A program that is not here is no venue. */
export const SWAP_TABLES: readonly SwapTable[] = [
  ...pumpFun,
  ...pumpSwap,
  ...raydiumAmmV4,
  ...raydiumCpmm,
  ...raydiumClmm,
  ...raydiumLaunchlab,
  ...meteoraDlmm,
  ...meteoraDammV1,
  ...meteoraDammV2,
  ...meteoraDbc,
  ...orcaWhirlpool,
];
