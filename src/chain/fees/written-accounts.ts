import { Address } from "../../primitives/address.ts";

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_1 = 0x81;
/** Version 1: a mask of four bytes, the blockhash and the number of instructions follow the header. */
const VERSION_1_COUNTS = 4 + KEY_BYTES + 1;

/**
 * The accounts named in the message that a transaction of this service writes to, without its payer. Accounts that it loads from a lookup
 * table are not among them.
 *
 * @param transaction signed bytes, as built here
 * @throws RangeError if they are truncated
 */
export function writtenAccounts(transaction: Uint8Array): readonly Address[] {
  const isVersion1 = transaction[0] === VERSION_1;
  let header = isVersion1 ? 1 : 1 + transaction[0]! * SIGNATURE_BYTES;
  // Legacy messages begin with the header, version 0 with a byte that names the version.
  if (!isVersion1 && transaction[header]! >= 0x80) header += 1;
  const count = header + 3 + (isVersion1 ? VERSION_1_COUNTS : 0);
  const [signers, readonlySigners, readonlyOthers] = transaction.subarray(header, header + 3);
  const accounts = transaction[count]!;
  const keys = count + 1;
  if (keys + accounts * KEY_BYTES > transaction.length) throw new RangeError("the transaction is cut");
  const isWritten = (index: number) =>
    index < signers! ? index < signers! - readonlySigners! : index < accounts - readonlyOthers!;
  const written: Address[] = [];
  for (let index = 1; index < accounts; index++) {
    const at = keys + index * KEY_BYTES;
    if (isWritten(index)) written.push(Address.from(transaction.subarray(at, at + KEY_BYTES)));
  }
  return written;
}
