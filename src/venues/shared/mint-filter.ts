import type { Address } from "../../primitives/address.ts";
import type { AccountFilter, MarketSearch, MintPair } from "../venue.ts";

/** How to recognize a venue's markets among the accounts of its program. */
interface MarketAccounts {
  readonly program: Address;
  /** Bytes of a market account, if all have one size. */
  readonly dataSize?: number;
  /** Offsets of the mints in its data, in the venue's own order. */
  readonly mintOffsets: readonly [number, number];
}

/** Markets whose accounts name these two mints in this order. */
export function filterByMints(
  { program, dataSize, mintOffsets }: MarketAccounts,
  [first, second]: readonly [Address, Address],
): MarketSearch {
  return {
    kind: "filter",
    program,
    ...(dataSize === undefined ? {} : { dataSize }),
    memcmp: [
      { offset: mintOffsets[0], bytes: first.bytes },
      { offset: mintOffsets[1], bytes: second.bytes },
    ],
  };
}

/** Markets whose accounts name the two mints in either order. */
export function filterEitherWay(accounts: MarketAccounts, { a, b }: MintPair): readonly MarketSearch[] {
  return [filterByMints(accounts, [a, b]), filterByMints(accounts, [b, a])];
}

/** Markets whose accounts name the mint on either side. */
export function filterByMint({ program, dataSize, mintOffsets }: MarketAccounts, mint: Address): AccountFilter[] {
  return mintOffsets.map((offset) => ({
    kind: "filter",
    program,
    ...(dataSize === undefined ? {} : { dataSize }),
    memcmp: [{ offset, bytes: mint.bytes }],
  }));
}
