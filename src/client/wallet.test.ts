import type { Transport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { Tradewire } from "./tradewire.ts";
import { fromBase58, type WalletLike } from "./wallet.ts";

const KEY = "4Z7cXSyeFR8wNGMVXUE1TwtKn5D5Vu7FzEv69dokLv7KrQk7h6pu4LF8ZRR9yQBhc7uSM6RTTZtU1fmaxiNrxXrs";
const { publicKey } = fromBase58(KEY);

/** The newest transaction version that a client with this wallet asks for. */
async function versionAsked(wallet: WalletLike): Promise<unknown> {
  let asked: unknown;
  const transport = {
    unary: (_method: unknown, _signal: unknown, _timeoutMs: unknown, _header: unknown, request: object) => {
      asked = (request as { maxTransactionVersion?: number }).maxTransactionVersion;
      return Promise.reject(new Error("asked"));
    },
  } as unknown as Transport;
  const client = Tradewire.connect({ baseUrl: "http://service.example", wallet, transport, keepAliveMs: 0 });
  await client.buildBuy({ mint: "SOL", solAmount: 1, slippage: 0, priority: "fast" }).catch(() => undefined);
  return asked;
}

function standardWallet(supportedTransactionVersions?: readonly unknown[]): WalletLike {
  const account = { address: publicKey.toString(), publicKey: publicKey.bytes };
  const signing = { signTransaction: () => Promise.resolve([]), supportedTransactionVersions };
  return { accounts: [account], features: { "solana:signTransaction": signing } };
}

test("version 1 is asked for unless the wallet says that it cannot sign it", async () => {
  expect(await versionAsked(KEY)).toBe(1);
  expect(await versionAsked(standardWallet(["legacy", 0, 1]))).toBe(1);
  expect(await versionAsked(standardWallet(["legacy", 0]))).toBeUndefined();
  const custom = { publicKey, signMessageBytes: () => new Uint8Array(64) };
  expect(await versionAsked(custom)).toBe(1);
  expect(await versionAsked({ ...custom, signsVersion1: false })).toBeUndefined();
});
