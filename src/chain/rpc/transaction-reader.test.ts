import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { createRpcPool } from "./rpc-pool.ts";
import { createTransactionReader } from "./transaction-reader.ts";

const record = {
  slot: 77,
  transaction: { message: { accountKeys: [SYSTEM_PROGRAM.toString()] } },
  meta: {
    err: null,
    fee: 5_000,
    preBalances: [10, 1, 2],
    postBalances: [9_007_199_254_740_993n, 1, 2],
    preTokenBalances: [],
    postTokenBalances: [
      {
        accountIndex: 1,
        mint: SOL_MINT.toString(),
        owner: SYSTEM_PROGRAM.toString(),
        uiTokenAmount: { amount: "18446744073709551615", decimals: 9 },
      },
    ],
    loadedAddresses: { writable: [SOL_MINT.toString()], readonly: [TOKEN_PROGRAM.toString()] },
    logMessages: ["Program log: hello"],
    computeUnitsConsumed: 1_234,
  },
};

function readerOf(...answers: unknown[]) {
  const endpoints = answers.map((answer) => fakeEndpoint({ getTransaction: () => answer }));
  return {
    endpoints,
    reader: createTransactionReader({ pool: createRpcPool({ endpoints, now: Date.now, warn: () => {} }) }),
  };
}

test("the record is decoded exactly, loaded addresses after the message's own", async () => {
  const { reader, endpoints } = readerOf(record);
  expect(await reader.fetchTransaction("signature")).toEqual({
    slot: 77n,
    error: null,
    feeLamports: 5_000n,
    accounts: [SYSTEM_PROGRAM, SOL_MINT, TOKEN_PROGRAM],
    preBalances: [10n, 1n, 2n],
    postBalances: [9_007_199_254_740_993n, 1n, 2n],
    preTokenBalances: [],
    postTokenBalances: [
      { accountIndex: 1, mint: SOL_MINT, owner: SYSTEM_PROGRAM, amount: 18_446_744_073_709_551_615n },
    ],
    logs: ["Program log: hello"],
    computeUnitsConsumed: 1_234n,
  });
  expect(endpoints[0]!.calls[0]!.params[1]).toMatchObject({
    commitment: "confirmed",
    maxSupportedTransactionVersion: 1,
  });
});

test("a transaction missing on one node is read from another; null if none has it", async () => {
  expect((await readerOf(null, record).reader.fetchTransaction("signature"))?.slot).toBe(77n);
  expect(await readerOf(null, null).reader.fetchTransaction("signature")).toBe(null);
});

test("a record without metadata counts as missing", async () => {
  expect(await readerOf({ ...record, meta: null }).reader.fetchTransaction("signature")).toBe(null);
});

test("a malformed record is an UPSTREAM_ERROR", async () => {
  const { reader } = readerOf({ ...record, meta: { ...record.meta, preBalances: ["1"] } });
  await expect(reader.fetchTransaction("signature")).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});
