import type { SwapTable } from "./swap-table.ts";
import { meteoraDammV1Swaps } from "./venues/meteora-damm-v1.ts";
import { meteoraDammV2Swaps } from "./venues/meteora-damm-v2.ts";
import { meteoraDbcSwaps } from "./venues/meteora-dbc.ts";
import { meteoraDlmmSwaps } from "./venues/meteora-dlmm.ts";
import { orcaWhirlpoolSwaps } from "./venues/orca-whirlpool.ts";
import { pumpFunSwaps } from "./venues/pump-fun.ts";
import { pumpSwapSwaps } from "./venues/pump-swap.ts";
import { raydiumAmmV4Swaps } from "./venues/raydium-amm-v4.ts";
import { raydiumClmmSwaps } from "./venues/raydium-clmm.ts";
import { raydiumCpmmSwaps } from "./venues/raydium-cpmm.ts";
import { raydiumLaunchlabSwaps } from "./venues/raydium-launchlab.ts";

/** Every swap instruction this library knows. A program that is not here is no venue. */
export const SWAP_TABLES: readonly SwapTable[] = [
  ...pumpFunSwaps,
  ...pumpSwapSwaps,
  ...raydiumAmmV4Swaps,
  ...raydiumCpmmSwaps,
  ...raydiumClmmSwaps,
  ...raydiumLaunchlabSwaps,
  ...meteoraDlmmSwaps,
  ...meteoraDammV1Swaps,
  ...meteoraDammV2Swaps,
  ...meteoraDbcSwaps,
  ...orcaWhirlpoolSwaps,
];
