import type { Address } from "../primitives/address.ts";
import { SOL_MINT, USDC_MINT } from "./programs.ts";

/** The mints a trade may pass through between two markets, unless the operator names others. */
export const HUB_MINTS: readonly Address[] = [SOL_MINT, USDC_MINT];

/** True for a market that trades SOL for USDC or back: no others are as deep. Both sides of the wire go by it. */
export function isBetweenHubs(inMint: Address, outMint: Address): boolean {
  return HUB_MINTS.includes(inMint) && HUB_MINTS.includes(outMint);
}
