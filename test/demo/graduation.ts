import { type KeyObject, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import bs58 from "bs58";
import { Address } from "../../src/primitives/address.ts";
import { readU64 } from "../../src/primitives/bytes.ts";
import { PUMP_PROGRAM } from "../../src/sandbox/world/pump-fun.ts";
import type { WorldToken } from "../../src/sandbox/world/tokens/token.ts";
import { compileMessage } from "../../src/solana/message.ts";
import { derive } from "../../src/solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../src/solana/programs.ts";
import { migrateCurve } from "../support/pump-migration.ts";

/** Where the curve's account says how many tokens it still sells, and the program's settings who receives migrations. */
const REAL_TOKENS_OFFSET = 24;
const WITHDRAW_AUTHORITY_OFFSET = 113;
const SIGNATURE_WAIT_MS = 20_000;

/** Calls a method of the node. @throws Error with the node's words */
export async function callNode<T>(rpcUrl: string, method: string, params: readonly unknown[]): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as { result: T; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}

/** Base units of a coin that its curve has not sold yet. */
export async function readTokensLeft(rpcUrl: string, curve: Address): Promise<bigint> {
  return readU64(await readData(rpcUrl, curve), REAL_TOKENS_OFFSET);
}

/** Moves a completed curve to its pool, as anybody may: the wallet signs and pays. Resolves with the confirmed signature. */
export async function migrate(
  rpcUrl: string,
  coin: WorldToken,
  wallet: { readonly address: string; readonly key: KeyObject },
): Promise<string> {
  const settings = await readData(rpcUrl, derive(PUMP_PROGRAM, "global"));
  const { value } = await callNode<{ value: { blockhash: string } }>(rpcUrl, "getLatestBlockhash", [
    { commitment: "confirmed" },
  ]);
  const payer = Address.of(wallet.address);
  const migration = migrateCurve(
    {
      mint: coin.mint,
      mintProgram: coin.program,
      quoteMint: SOL_MINT,
      quoteProgram: TOKEN_PROGRAM,
      withdrawAuthority: Address.from(settings, WITHDRAW_AUTHORITY_OFFSET),
    },
    payer,
  );
  const message = compileMessage({
    payer,
    instructions: [migration],
    blockhash: bs58.decode(value.blockhash),
    lookupTables: [],
  });
  const wire = Buffer.concat([Uint8Array.of(1), sign(null, message, wallet.key), message]);
  const signature = await callNode<string>(rpcUrl, "sendTransaction", [
    wire.toString("base64"),
    { encoding: "base64" },
  ]);
  for (const end = Date.now() + SIGNATURE_WAIT_MS; Date.now() < end; await sleep(50)) {
    const { value: statuses } = await callNode<{
      value: readonly ({ readonly confirmationStatus: string; readonly err: unknown } | null)[];
    }>(rpcUrl, "getSignatureStatuses", [[signature]]);
    const status = statuses[0];
    if (status?.err) throw new Error(`The migration failed: ${JSON.stringify(status.err)}`);
    if (status != null && status.confirmationStatus !== "processed") return signature;
  }
  throw new Error(`The migration ${signature} was not confirmed.`);
}

async function readData(rpcUrl: string, address: Address): Promise<Uint8Array> {
  const { value } = await callNode<{ value: { data: [string, string] } | null }>(rpcUrl, "getAccountInfo", [
    address.toString(),
    { encoding: "base64", commitment: "confirmed" },
  ]);
  if (value === null) throw new Error(`${address} is not there.`);
  return Uint8Array.from(Buffer.from(value.data[0], "base64"));
}
