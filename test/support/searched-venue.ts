import { Address } from "../../src/primitives/address.ts";
import { programErrors } from "../../src/venues/shared/program-errors.ts";
import type { AccountFilter, Venue } from "../../src/venues/venue.ts";

/** The program of `searchedVenue`. */
export const SEARCHED_PROGRAM = Address.from(new Uint8Array(32).fill(20));

const notAsked = (): never => {
  throw new Error("not asked");
};

/** A venue for tests of searches: a pool's data is its two mints, and nothing is priced. */
export const searchedVenue: Venue = {
  id: "raydium_cpmm",
  programs: [SEARCHED_PROGRAM],
  supports: { exactOut: true, token2022: true },
  search: ({ a, b }) => [poolFilter(a.bytes, b.bytes)],
  searchMint: ({ bytes }) => [poolFilter(bytes)],
  decode: ({ data, address, owner }) =>
    data.length === 64 && owner === SEARCHED_PROGRAM
      ? { venue: "raydium_cpmm", address, mints: [Address.from(data), Address.from(data, 32)], nativeSol: false }
      : undefined,
  needs: () => [],
  read: ({ address }) => address,
  quote: notAsked,
  swap: notAsked,
  errors: programErrors([]),
};

/** Pools whose data begins with these mints. */
export function poolFilter(...bytes: readonly Uint8Array[]): AccountFilter {
  return { kind: "filter", program: SEARCHED_PROGRAM, memcmp: bytes.map((one, i) => ({ offset: 32 * i, bytes: one })) };
}
