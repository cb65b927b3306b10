import { Address } from "../../primitives/address.ts";
import { readU64, viewOf } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import type { TableLookup } from "./wire-transaction.ts";

const LOOKUP_TABLE_PROGRAM = Address.of("AddressLookupTab1e1111111111111111111111111");
const HEADER_SIZE = 56;
const KIND_TABLE = 1;
const LAST_EXTENDED_SLOT_OFFSET = 12;
const LAST_EXTENDED_START_OFFSET = 20;

/** Addresses a version 0 message takes from lookup tables, or why it cannot. */
type LoadedAddresses =
  | { readonly writable: readonly Address[]; readonly readonly: readonly Address[] }
  | { readonly error: string };

/**
 * Reads the addresses the lookups name. Addresses added in the present slot do not count yet.
 *
 * @see solana-address-lookup-table-interface `AddressLookupTable::lookup`
 */
export function loadAddresses(
  lookups: readonly TableLookup[],
  accountAt: (table: Address) => Account | null,
  slot: number,
): LoadedAddresses {
  const writable: Address[] = [];
  const readonly: Address[] = [];
  for (const lookup of lookups) {
    const account = accountAt(lookup.table);
    if (account === null) return { error: "AddressLookupTableNotFound" };
    if (account.owner !== LOOKUP_TABLE_PROGRAM) return { error: "InvalidAddressLookupTableOwner" };
    const { data } = account;
    if (data.length < HEADER_SIZE || viewOf(data).getUint32(0, true) !== KIND_TABLE) {
      return { error: "InvalidAddressLookupTableData" };
    }
    const extendedNow = readU64(data, LAST_EXTENDED_SLOT_OFFSET) === BigInt(slot);
    const active = extendedNow ? data[LAST_EXTENDED_START_OFFSET]! : Math.floor((data.length - HEADER_SIZE) / 32);
    for (const [indexes, loaded] of [
      [lookup.writable, writable],
      [lookup.readonly, readonly],
    ] as const) {
      for (const index of indexes) {
        if (index >= active) return { error: "InvalidAddressLookupTableIndex" };
        loaded.push(Address.from(data, HEADER_SIZE + 32 * index));
      }
    }
  }
  return { writable, readonly };
}
