import bs58 from "bs58";
import type { Address } from "../../src/primitives/address.ts";
import { concatBytes, writeU32, writeU64 } from "../../src/primitives/bytes.ts";
import { writable, writableSigner } from "../../src/solana/instruction.ts";
import { compileMessage } from "../../src/solana/message.ts";
import { SYSTEM_PROGRAM } from "../../src/solana/programs.ts";
import type { TestWallet } from "./wallet.ts";

export interface TransferOrder {
  readonly from: TestWallet;
  readonly to: Address;
  readonly lamports: bigint;
  readonly blockhash: Uint8Array;
}

/** A signed transfer of lamports, and its signature in base58. */
export function signTransfer({ from, to, lamports, blockhash }: TransferOrder) {
  const data = new Uint8Array(12);
  writeU32(data, 0, 2);
  writeU64(data, 4, lamports);
  const accounts = [writableSigner(from.address), writable(to)];
  const instructions = [{ program: SYSTEM_PROGRAM, accounts, data }];
  const message = compileMessage({ payer: from.address, instructions, blockhash, lookupTables: [] });
  const signature = from.sign(message);
  return { transaction: concatBytes(Uint8Array.of(1), signature, message), signature: bs58.encode(signature) };
}
