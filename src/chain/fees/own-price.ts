import { equalBytes, readU64, viewOf } from "../../primitives/bytes.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../solana/programs.ts";

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_1 = 0x81;
const SET_COMPUTE_UNIT_PRICE = 3;
const MICRO_LAMPORTS = 1_000_000n;

/**
 * The price a transaction of this service bids. Micro-lamports per compute unit; 0 if it bids none.
 *
 * @param transaction signed bytes, as built here
 * @throws RangeError if they are truncated
 */
export function ownPriceOf(transaction: Uint8Array): bigint {
  return transaction[0] === VERSION_1 ? priceOfVersion1(transaction) : priceOfInstructions(transaction);
}

/** Legacy and version 0: an instruction of the compute budget program. */
function priceOfInstructions(transaction: Uint8Array): bigint {
  let at = 1 + transaction[0]! * SIGNATURE_BYTES;
  if (transaction[at]! >= 0x80) at += 1;
  at += 3;
  const accounts = transaction[at]!;
  const keys = at + 1;
  at = keys + accounts * KEY_BYTES + KEY_BYTES;
  const instructions = transaction[at]!;
  at += 1;
  for (let i = 0; i < instructions; i++) {
    const program = keys + transaction[at]! * KEY_BYTES;
    at += 2 + transaction[at + 1]!;
    let length = transaction[at++]!;
    if (length >= 0x80) length = (length & 0x7f) | (transaction[at++]! << 7);
    const isBudget = equalBytes(transaction.subarray(program, program + KEY_BYTES), COMPUTE_BUDGET_PROGRAM.bytes);
    if (isBudget && transaction[at] === SET_COMPUTE_UNIT_PRICE) return readU64(transaction, at + 1);
    at += length;
  }
  return 0n;
}

/** Version 1: the whole fee in lamports, and the limit it is spread over, are the first two values of its configuration. */
function priceOfVersion1(transaction: Uint8Array): bigint {
  const mask = viewOf(transaction).getUint32(4, true);
  const hasFee = (mask & 0b11) === 0b11;
  const hasLimit = (mask & 0b100) !== 0;
  if (!hasFee || !hasLimit) return 0n;
  const counts = 8 + KEY_BYTES;
  const config = counts + 2 + transaction[counts + 1]! * KEY_BYTES;
  const limit = BigInt(viewOf(transaction).getUint32(config + 8, true));
  return limit === 0n ? 0n : (readU64(transaction, config) * MICRO_LAMPORTS) / limit;
}
