import { Address } from "../primitives/address.ts";
import { readU64, viewOf } from "../primitives/bytes.ts";
import type { Account } from "./account.ts";
import type { LookupTable } from "./message.ts";

export const LOOKUP_TABLE_PROGRAM = Address.of("AddressLookupTab1e1111111111111111111111111");

const HEADER_BYTES = 56;
const KIND_LOOKUP_TABLE = 1;
const NEVER_DEACTIVATED = (1n << 64n) - 1n;

/** Decodes a lookup table; undefined if the account is none or is being closed. @see address-lookup-table program `state.rs` */
export function decodeLookupTable({ address, owner, data }: Account): LookupTable | undefined {
  if (owner !== LOOKUP_TABLE_PROGRAM || data.length < HEADER_BYTES) return undefined;
  if (viewOf(data).getUint32(0, true) !== KIND_LOOKUP_TABLE || readU64(data, 4) !== NEVER_DEACTIVATED) return undefined;
  const entries: Address[] = [];
  for (let at = HEADER_BYTES; at + 32 <= data.length; at += 32) entries.push(Address.from(data, at));
  return { address, entries };
}
