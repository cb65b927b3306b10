import { Address } from "../../primitives/address.ts";
import { concatBytes, textBytes } from "../../primitives/bytes.ts";
import { verifySignature } from "../../primitives/ed25519.ts";

const MEMO_PROGRAM = Address.of("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");

/** Message header: one writable signer, and one read-only account, the program. */
const HEADER = Uint8Array.of(1, 0, 1);
/** No block has this hash, so the transaction cannot land on any network. */
const NO_BLOCKHASH = new Uint8Array(32);

/** True if the wallet signed the challenge: its text, or the transaction that carries it. */
export function provesWallet(wallet: Address, challenge: string, signature: Uint8Array): boolean {
  return (
    verifySignature(wallet.bytes, textBytes(challenge), signature) ||
    verifySignature(wallet.bytes, memoMessage(wallet, challenge), signature)
  );
}

/**
 * The transaction message that a hardware wallet signs instead of a text: a legacy message paid by the wallet, whose only
 * instruction is a memo with the challenge. It follows from wallet and challenge, so only the signature is sent.
 */
export function memoMessage(wallet: Address, challenge: string): Uint8Array {
  const memo = textBytes(challenge);
  return concatBytes(
    HEADER,
    Uint8Array.of(2),
    wallet.bytes,
    MEMO_PROGRAM.bytes,
    NO_BLOCKHASH,
    // One instruction: program 1, one account, which is the wallet at 0, and the memo.
    Uint8Array.of(1, 1, 1, 0),
    compactLength(memo.length),
    memo,
  );
}

/** A length below 2^14 in Solana's compact-u16 encoding: 7 bits per byte, lowest first. */
function compactLength(length: number): Uint8Array {
  return length < 0x80 ? Uint8Array.of(length) : Uint8Array.of((length & 0x7f) | 0x80, length >> 7);
}
