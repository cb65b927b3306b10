import bs58 from "bs58";
import { expect, test } from "vitest";
import { signTransfer } from "../../../test/support/transfer.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { compileMessageV1 } from "../../solana/message.ts";
import { transferLamports } from "../../solana/token/token-instructions.ts";
import { recentBlockhash } from "./recent-blockhash.ts";

const blockhash = new Uint8Array(32).map((_, i) => i + 1);
const [from, to] = [createTestWallet(), createTestWallet().address];

test("is read from a signed transaction of any version", () => {
  const { transaction } = signTransfer({ from, to, lamports: 1n, blockhash });
  expect(recentBlockhash(transaction)).toBe(bs58.encode(blockhash));
  const legacy = concatBytes(transaction.subarray(0, 65), transaction.subarray(66, transaction.length - 1));
  expect(recentBlockhash(legacy)).toBe(bs58.encode(blockhash));
  const message = compileMessageV1(
    { payer: from.address, blockhash, instructions: [transferLamports(from.address, to, 1n)] },
    { priorityFeeLamports: 1n, computeUnitLimit: 1_000, loadedBytesLimit: 65_536 },
  );
  expect(recentBlockhash(concatBytes(message, from.sign(message)))).toBe(bs58.encode(blockhash));
});

test("is not read from bytes that are cut", () => {
  const { transaction } = signTransfer({ from, to, lamports: 1n, blockhash });
  expect(recentBlockhash(transaction.subarray(0, 100))).toBeUndefined();
  expect(recentBlockhash(new Uint8Array(0))).toBeUndefined();
});
