import { Address } from "../../primitives/address.ts";
import { ByteReader } from "../../primitives/byte-reader.ts";
import { readLength } from "./compact-length.ts";

const V0_PREFIX = 0x80;
const V1_PREFIX = 0x81;
const ADDRESS_BYTES = 32;
const HEADER_BYTES = 3;

/** The accounts that a message itself names, the fee payer first, without those of lookup tables; none if it is cut. */
export function accountsOf(message: Uint8Array): readonly Address[] {
  const named = namedBy(message);
  return Array.from({ length: named.length / ADDRESS_BYTES }, (_, i) => Address.from(named, i * ADDRESS_BYTES));
}

/** Whether the accounts begin with those that the message itself names, without looking any of these up. */
export function beginWithAccountsOf(message: Uint8Array, accounts: readonly Address[]): boolean {
  const named = namedBy(message);
  const count = named.length / ADDRESS_BYTES;
  if (accounts.length < count) return false;
  for (let i = 0; i < count; i++) if (!accounts[i]!.isAt(named, i * ADDRESS_BYTES)) return false;
  return true;
}

/** The addresses that the message itself names, one after the other; none if it is cut. */
function namedBy(message: Uint8Array): Uint8Array {
  try {
    const from = new ByteReader(message);
    const count = message[0] === V1_PREFIX ? countOfV1(from) : countOfV0(from, message[0] === V0_PREFIX);
    return from.bytes(count * ADDRESS_BYTES);
  } catch (error) {
    if (error instanceof RangeError) return new Uint8Array();
    throw error;
  }
}

function countOfV0(from: ByteReader, hasPrefix: boolean): number {
  from.bytes(hasPrefix ? 1 + HEADER_BYTES : HEADER_BYTES);
  return readLength(from);
}

/** Version, counts, mask of the budget, blockhash and the count of instructions come before it. */
function countOfV1(from: ByteReader): number {
  from.bytes(1 + HEADER_BYTES);
  from.u32();
  from.bytes(ADDRESS_BYTES);
  from.u8();
  return from.u8();
}
