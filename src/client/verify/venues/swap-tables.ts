import { meteoraDammV1Swaps } from "./meteora-damm-v1.ts";
import { meteoraDammV2Swaps } from "./meteora-damm-v2.ts";
import { meteoraDbcSwaps } from "./meteora-dbc.ts";
import { meteoraDlmmSwaps } from "./meteora-dlmm.ts";
import { orcaWhirlpoolSwaps } from "./orca-whirlpool.ts";
import { pumpFunSwaps } from "./pump-fun.ts";
import { pumpSwapExtension, pumpSwapSwaps } from "./pump-swap.ts";
import { raydiumAmmV4Swaps } from "./raydium-amm-v4.ts";
import { raydiumClmmSwaps } from "./raydium-clmm.ts";
import { raydiumCpmmSwaps } from "./raydium-cpmm.ts";
import { raydiumLaunchlabSwaps } from "./raydium-launchlab.ts";
import type { PreparationTable, SwapTable } from "./swap-table.ts";

/** Every instruction that may come before a swap of the same market. */
export const SWAP_PREPARATIONS: readonly PreparationTable[] = [pumpSwapExtension];

/** Every swap instruction this library knows. A program that is missing here is not a venue. */
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
