import { hash } from "node:crypto";
import bs58 from "bs58";
import { Address } from "../../../../src/primitives/address.ts";
import { concatBytes } from "../../../../src/primitives/bytes.ts";
import { accountsOf } from "../../../../src/solana/message/message-accounts.ts";
import { wireLayout } from "../../../../src/solana/message.ts";
import { SOL_MINT } from "../../../../src/solana/programs.ts";
import type { SealedTrade } from "../../../../src/trade/build/token/sealed-trade.ts";
import { signTransfer } from "../../../support/transfer.ts";
import { createTestWallet, signWithNonce } from "../../../support/wallet.ts";
import { FEE, FIRST_SLOT } from "./told-node.ts";

/** A message, signed twice. */
export interface SignedTrade {
  readonly forms: readonly [SignedForm, SignedForm];
  /** Accounts that it names, the payer first, and the mint of what it buys. Base58. */
  readonly accounts: readonly string[];
  readonly token: string;
  readonly lastHeight: number;
}

interface SignedForm {
  readonly signature: string;
  readonly transaction: Uint8Array;
}

const SEED = new Uint8Array(32).fill(5);
const VALIDITY_MS = 50_000;
const TOKEN = Address.from(new Uint8Array(32).fill(3));
export const wallet = createTestWallet(SEED);
const first = signTransfer({ from: wallet, to: TOKEN, lamports: 1n, blockhash: new Uint8Array(32).fill(9) });
const { message } = wireLayout(first.transaction);
const again = signWithNonce(SEED, message, 123_456_789n);

/** The trade, valid up to this height. */
export function signedTrade(lastHeight: number): { readonly trade: SignedTrade; readonly sealed: SealedTrade } {
  const second = { signature: bs58.encode(again), transaction: concatBytes(Uint8Array.of(1), again, message) };
  const accounts = accountsOf(message).map(String);
  const sealed: SealedTrade = {
    wallet: wallet.address,
    messageHash: hash("sha256", message, "buffer"),
    messageLength: message.length,
    lastValidBlockHeight: BigInt(lastHeight),
    buildSlot: BigInt(FIRST_SLOT),
    stateSlot: BigInt(FIRST_SLOT),
    expiresAtMs: Date.now() + VALIDITY_MS,
    inMint: SOL_MINT,
    outMint: TOKEN,
    inDecimals: 9,
    outDecimals: 6,
    costs: { baseFee: 5_000n, priorityFee: BigInt(FEE) - 5_000n, tip: 0n, rentPaid: 0n, rentReturned: 0n },
    route: [],
    creates: [],
    closes: undefined,
    senders: ["rpc"],
  };
  return { trade: { forms: [first, second], accounts, token: TOKEN.toString(), lastHeight }, sealed };
}
