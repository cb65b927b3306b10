import { ByteReader } from "../../primitives/byte-reader.ts";
import { readLength } from "./compact-length.ts";

const V0_PREFIX = 0x80;
const V1_PREFIX = 0x81;
const ADDRESS_BYTES = 32;
const HEADER_BYTES = 3;

/**
 * Those accounts of a message that it may write to, its payer first. None if it is cut.
 *
 * @param accounts all of them in the message's order, those of lookup tables at the end: without these, only what it names itself
 */
export function writtenBy<T>(message: Uint8Array, accounts: readonly T[]): readonly T[] {
  try {
    return readWritten(new ByteReader(message), message[0]!, accounts);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function readWritten<T>(from: ByteReader, first: number, accounts: readonly T[]): readonly T[] {
  if (first >= V0_PREFIX) from.u8();
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = from.bytes(HEADER_BYTES);
  const isVersion1 = first === V1_PREFIX;
  const count = isVersion1 ? countOfVersion1(from) : readLength(from);
  from.bytes(ADDRESS_BYTES * count);
  const isWritten = (index: number) =>
    index < signers ? index < signers - readonlySigners : index < count - readonlyOthers;
  const written = accounts.slice(0, count).filter((_, index) => isWritten(index));
  if (first !== V0_PREFIX || accounts.length <= count) return written;
  return written.concat(accounts.slice(count, count + readWritableLookups(from)));
}

/** Mask of the budget, blockhash and the count of instructions come before it. */
function countOfVersion1(from: ByteReader): number {
  from.u32();
  from.bytes(ADDRESS_BYTES);
  from.u8();
  return from.u8();
}

/** How many accounts of lookup tables may be written to: they come before those that are only read. */
function readWritableLookups(from: ByteReader): number {
  from.bytes(ADDRESS_BYTES);
  for (let left = readLength(from); left > 0; left--) {
    from.u8();
    from.bytes(readLength(from));
    from.bytes(readLength(from));
  }
  let writable = 0;
  for (let left = readLength(from); left > 0; left--) {
    from.bytes(ADDRESS_BYTES);
    const indexes = readLength(from);
    writable += from.bytes(indexes).length;
    from.bytes(readLength(from));
  }
  return writable;
}
