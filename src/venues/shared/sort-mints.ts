import { type Address, compareAddresses } from "../../primitives/address.ts";
import type { MintPair } from "../venue.ts";

/** The pair in the order most programs keep mints: by their bytes. */
export function sortMints({ a, b }: MintPair): readonly [Address, Address] {
  return compareAddresses(a, b) < 0 ? [a, b] : [b, a];
}
