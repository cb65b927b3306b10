import { Address } from "../../primitives/address.ts";
import { ByteReader } from "../../primitives/byte-reader.ts";
import { readLength } from "./compact-length.ts";

const V0_PREFIX = 0x80;
const V1_PREFIX = 0x81;
const ADDRESS_BYTES = 32;
const HEADER_BYTES = 3;
/** Bytes of each entry of a version 1 budget: one a bit of its mask. */
const V1_ENTRY_BYTES = 4;

/** The program of each instruction of a message; none if the message is cut. */
export function programsOf(message: Uint8Array): readonly Address[] {
  try {
    const from = new ByteReader(message);
    return message[0] === V1_PREFIX ? programsOfV1(from) : programsOfV0(from, message[0] === V0_PREFIX);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function programsOfV0(from: ByteReader, hasPrefix: boolean): readonly Address[] {
  from.bytes(hasPrefix ? 1 + HEADER_BYTES : HEADER_BYTES);
  const accounts = from.bytes(ADDRESS_BYTES * readLength(from));
  from.bytes(ADDRESS_BYTES);
  return Array.from({ length: readLength(from) }, () => {
    const program = addressAt(accounts, from.u8());
    from.bytes(readLength(from));
    from.bytes(readLength(from));
    return program;
  });
}

function programsOfV1(from: ByteReader): readonly Address[] {
  from.bytes(1 + HEADER_BYTES);
  let entries = 0;
  for (let mask = from.u32(); mask !== 0; mask &= mask - 1) entries += 1;
  from.bytes(ADDRESS_BYTES);
  const count = from.u8();
  const accounts = from.bytes(ADDRESS_BYTES * from.u8());
  from.bytes(V1_ENTRY_BYTES * entries);
  return Array.from({ length: count }, () => {
    const program = addressAt(accounts, from.u8());
    from.u8();
    from.u16();
    return program;
  });
}

/** @throws RangeError if there is none: a program is never in a lookup table */
function addressAt(accounts: Uint8Array, index: number): Address {
  return Address.from(new ByteReader(accounts.subarray(ADDRESS_BYTES * index)).bytes(ADDRESS_BYTES));
}
