import { PublicKey, Transaction, TransactionInstruction } from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { createTestWallet } from "../../../test/support/wallet.ts";
import { memoMessage, provesWallet } from "./challenge-proof.ts";
import { writeChallenge } from "./challenge-text.ts";

const wallet = createTestWallet();
const challenge = writeChallenge({
  domain: "trade.example",
  wallet: wallet.address,
  uri: "https://trade.example",
  chainId: "mainnet",
  nonce: "0123456789abcdef",
  issuedAtMs: 0,
  expiresAtMs: 300_000,
});

/** The same message, made with web3.js as a wallet page makes it. */
function memoTransaction(text: string): Uint8Array {
  const payer = new PublicKey(wallet.address.bytes);
  const transaction = new Transaction({
    feePayer: payer,
    blockhash: PublicKey.default.toBase58(),
    lastValidBlockHeight: 0,
  }).add(
    new TransactionInstruction({
      programId: new PublicKey("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
      keys: [{ pubkey: payer, isSigner: true, isWritable: true }],
      data: Buffer.from(text),
    }),
  );
  return new Uint8Array(transaction.serializeMessage());
}

describe("memoMessage", () => {
  it.each([challenge, "", "x".repeat(127), "x".repeat(128), "é".repeat(300)])(
    "is what web3.js makes of the same transaction",
    (text) => {
      expect(memoMessage(wallet.address, text)).toEqual(memoTransaction(text));
    },
  );
});

describe("provesWallet", () => {
  it("takes the signed text and the signed memo transaction", () => {
    expect(provesWallet(wallet.address, challenge, wallet.sign(challenge))).toBe(true);
    expect(provesWallet(wallet.address, challenge, wallet.sign(memoTransaction(challenge)))).toBe(true);
  });

  it("refuses a signature of another text or by another wallet", () => {
    const other = challenge.replace("mainnet", "devnet");
    expect(provesWallet(wallet.address, challenge, wallet.sign(other))).toBe(false);
    expect(provesWallet(wallet.address, challenge, wallet.sign(memoTransaction(other)))).toBe(false);
    expect(provesWallet(wallet.address, challenge, createTestWallet().sign(memoTransaction(challenge)))).toBe(false);
  });
});
