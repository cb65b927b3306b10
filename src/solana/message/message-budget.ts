import { ByteReader } from "../../primitives/byte-reader.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../programs.ts";
import { readLength } from "./compact-length.ts";

const V0_PREFIX = 0x80;
const V1_PREFIX = 0x81;
/** Bits of a version 1 header: the two of the priority fee, then the compute-unit limit. */
const V1_PRIORITY = 0b11;
const V1_UNIT_LIMIT = 0b100;
/** Tag of the instruction that limits compute units. */
const SET_UNIT_LIMIT = 2;
const ADDRESS_BYTES = 32;
const HEADER_BYTES = 3;

/** The compute units that a message asks for; undefined if it names no limit, or is cut before it does. */
export function unitLimitOf(message: Uint8Array): number | undefined {
  try {
    const from = new ByteReader(message);
    return message[0] === V1_PREFIX ? unitLimitOfV1(from) : unitLimitOfV0(from, message[0] === V0_PREFIX);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function unitLimitOfV0(from: ByteReader, hasPrefix: boolean): number | undefined {
  from.bytes(hasPrefix ? 1 + HEADER_BYTES : HEADER_BYTES);
  const accounts = from.bytes(ADDRESS_BYTES * readLength(from));
  const budgetAt = indexOfAddress(accounts, COMPUTE_BUDGET_PROGRAM.bytes);
  from.bytes(ADDRESS_BYTES);
  for (let left = readLength(from); left > 0; left--) {
    const program = from.u8();
    from.bytes(readLength(from));
    const data = new ByteReader(from.bytes(readLength(from)));
    if (program === budgetAt && data.u8() === SET_UNIT_LIMIT) return data.u32();
  }
  return undefined;
}

function unitLimitOfV1(from: ByteReader): number | undefined {
  from.bytes(1 + HEADER_BYTES);
  const mask = from.u32();
  from.bytes(ADDRESS_BYTES + 1);
  from.bytes(ADDRESS_BYTES * from.u8());
  if ((mask & V1_UNIT_LIMIT) === 0) return undefined;
  if ((mask & V1_PRIORITY) !== 0) from.u64();
  return from.u32();
}

function indexOfAddress(accounts: Uint8Array, address: Uint8Array): number {
  for (let at = 0; at < accounts.length; at += ADDRESS_BYTES)
    if (address.every((byte, index) => accounts[at + index] === byte)) return at / ADDRESS_BYTES;
  return -1;
}
