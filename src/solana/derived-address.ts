import { type Address, keepAt, keptAt } from "../primitives/address.ts";
import { textBytes } from "../primitives/bytes.ts";
import { findPda } from "./pda.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "./programs.ts";

/** An address a program derives, and the bump that moves it off the curve. */
export interface DerivedAddress {
  readonly address: Address;
  readonly bump: number;
}

/** Indexed addresses kept per kind and address; the tick or bin arrays around a price are far fewer. */
const MAX_INDEXED = 512;

/**
 * Remembers the value derived for an address for as long as that address is in use anywhere. Derivations never change, so
 * nothing is ever invalidated.
 */
function memoByAddress<T extends object>(derive: (address: Address) => T): (address: Address) => T {
  const known = new WeakMap<Address, T>();
  return (address) => {
    let value = known.get(address);
    if (value === undefined) {
      value = derive(address);
      known.set(address, value);
    }
    return value;
  };
}

/** Defines the address that `program` derives from a text seed and another address. Each is searched for once. */
export function definePda(program: Address, seed: string): (address: Address) => DerivedAddress {
  const prefix = textBytes(seed);
  return memoByAddress((address) => findPda([prefix, address.bytes], program));
}

/** Defines the address that `program` derives from a text seed, if one is given, and two other addresses. Each is searched for once. */
export function definePairPda(program: Address, seed = ""): (first: Address, second: Address) => DerivedAddress {
  const prefix = seed === "" ? [] : [textBytes(seed)];
  const derived = memoByAddress((first) =>
    memoByAddress((second) => findPda([...prefix, first.bytes, second.bytes], program)),
  );
  return (first, second) => derived(first)(second);
}

/**
 * Defines the addresses that `program` derives from a text seed, another address and an index, such as the tick arrays of a
 * pool. Each is searched for once; beyond 512 for one address, the oldest is forgotten.
 *
 * @param encode the index as it stands in the seeds
 */
export function defineIndexedPda(
  program: Address,
  seed: string,
  encode: (index: number) => Uint8Array,
): (address: Address, index: number) => DerivedAddress {
  const prefix = textBytes(seed);
  const knownOf = memoByAddress((_address) => new Map<number, DerivedAddress>());
  return (address, index) => {
    const known = knownOf(address);
    let derived = known.get(index);
    if (derived === undefined) {
      derived = findPda([prefix, address.bytes, encode(index)], program);
      if (known.size >= MAX_INDEXED) known.delete(known.keys().next().value!);
      known.set(index, derived);
    }
    return derived;
  };
}

/** A token account of an owner. */
export interface OwnedAccount extends DerivedAddress {
  readonly mint: Address;
  readonly program: Address;
}

/** Token accounts that an owner keeps in a list, which beats any map for the few that most have; further ones are in `associated`. */
const MAX_LISTED = 16;

/**
 * The list: mint, address and account of each. Accounts of other mints are passed over without a look at their objects, which are mostly in no
 * cache of the processor.
 */
type OwnedList = (Address | OwnedAccount)[];
const [ADDRESS, ACCOUNT, STEP] = [1, 2, 3];

const associated = memoByAddress((owner) =>
  memoByAddress((mint) => memoByAddress((program) => findAssociated(owner, mint, program))),
);

function findAssociated(owner: Address, mint: Address, program: Address): OwnedAccount {
  const { address, bump } = findPda([owner.bytes, program.bytes, mint.bytes], ASSOCIATED_TOKEN_PROGRAM);
  return { address, bump, mint, program };
}

/** The associated token account of `owner` for `mint`, under whichever program, if it was searched for before. */
export function knownTokenAccount(owner: Address, mint: Address): Address | undefined {
  const owned = keptAt(owner, "owned") as OwnedList | undefined;
  if (owned === undefined) return undefined;
  for (let at = owned.length - STEP; at >= 0; at -= STEP) if (owned[at] === mint) return owned[at + ADDRESS] as Address;
  return undefined;
}

/** The associated token account of `owner` for `mint` under its token program. Searched for once. */
export function associatedTokenAccount(owner: Address, mint: Address, tokenProgram: Address): OwnedAccount {
  let owned = keptAt(owner, "owned") as OwnedList | undefined;
  if (owned === undefined) {
    owned = [];
    keepAt(owner, "owned", owned);
  }
  for (let at = owned.length - STEP; at >= 0; at -= STEP) {
    if (owned[at] !== mint) continue;
    const known = owned[at + ACCOUNT] as OwnedAccount;
    if (known.program === tokenProgram) return known;
  }
  if (owned.length >= MAX_LISTED * STEP) return associated(owner)(mint)(tokenProgram);
  const found = findAssociated(owner, mint, tokenProgram);
  owned.push(mint, found.address, found);
  return found;
}
