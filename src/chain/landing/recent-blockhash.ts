import bs58 from "bs58";

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const VERSION_1 = 0x81;
/** Version, three counts and four bytes of scheduler settings. */
const VERSION_1_HEAD_BYTES = 8;

/** Reads the blockhash a signed transaction was built on, base58; undefined if the bytes are too short to hold one. */
export function recentBlockhash(transaction: Uint8Array): string | undefined {
  const at = transaction[0] === VERSION_1 ? VERSION_1_HEAD_BYTES : offsetOf(transaction);
  const bytes = transaction.subarray(at, at + KEY_BYTES);
  return bytes.length === KEY_BYTES ? bs58.encode(bytes) : undefined;
}

/** Legacy and version 0: signatures, an optional version byte, three counts, the accounts. Both lengths fit in one byte. */
function offsetOf(transaction: Uint8Array): number {
  const message = 1 + transaction[0]! * SIGNATURE_BYTES;
  const counts = message + ((transaction[message] ?? 0) >= 0x80 ? 1 : 0);
  const accounts = transaction[counts + 3] ?? 0;
  return counts + 4 + accounts * KEY_BYTES;
}
