import { Address } from "../primitives/address.ts";
import { SOL_MINT } from "./programs.ts";

/** The mints a trade may pass through between two markets: SOL, and USDC of mainnet. */
export const HUB_MINTS: readonly Address[] = [SOL_MINT, Address.of("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")];

/** True for a market where one hub trades for another: the deepest there are. */
export function isBetweenHubs(inMint: Address, outMint: Address): boolean {
  return HUB_MINTS.includes(inMint) && HUB_MINTS.includes(outMint);
}
