import type { Address } from "../primitives/address.ts";
import { SOL_MINT, USDC_MINT } from "./programs.ts";

/** The mints a trade may pass through between two markets. */
export const HUB_MINTS: readonly Address[] = [SOL_MINT, USDC_MINT];

/** True for a market that trades one hub for another: these are the deepest. */
export function isBetweenHubs(inMint: Address, outMint: Address): boolean {
  return HUB_MINTS.includes(inMint) && HUB_MINTS.includes(outMint);
}
