import type { Address } from "../primitives/address.ts";
import { findPda } from "./pda.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "./programs.ts";

/**
 * Remembers what a pure derivation gave for an address, for as long as that address itself is in use anywhere.
 * Derivations never change, so nothing ever has to be invalidated.
 */
export function memoByAddress<T>(derive: (address: Address) => T): (address: Address) => T {
  const known = new WeakMap<Address, { readonly value: T }>();
  return (address) => {
    let entry = known.get(address);
    if (entry === undefined) {
      entry = { value: derive(address) };
      known.set(address, entry);
    }
    return entry.value;
  };
}

export interface DerivedAddress {
  readonly address: Address;
  readonly bump: number;
}

const associated = memoByAddress((owner: Address) =>
  memoByAddress((mint: Address) =>
    memoByAddress((program: Address) => findPda([owner.bytes, program.bytes, mint.bytes], ASSOCIATED_TOKEN_PROGRAM)),
  ),
);

/** The associated token account of `owner` for `mint`, derived once and remembered while the three are in use. */
export function tokenAccountOf(owner: Address, mint: Address, tokenProgram: Address): DerivedAddress {
  return associated(owner)(mint)(tokenProgram);
}
