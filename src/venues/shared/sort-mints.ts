import { type Address, compareAddresses } from "../../primitives/address.ts";
import type { MintPair } from "../venue.ts";

/** The pair sorted by bytes, the order in which most programs keep mints. */
export function sortMints({ a, b }: MintPair): readonly [Address, Address] {
  return compareAddresses(a, b) < 0 ? [a, b] : [b, a];
}
