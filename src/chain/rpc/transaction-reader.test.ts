import bs58 from "bs58";
import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { RpcEndpoint } from "./rpc-endpoint.ts";
import { createRpcPool } from "./rpc-pool.ts";
import { fetchRecord } from "./transaction-reader.ts";

const record = {
  slot: 77,
  transaction: { signatures: ["signature"], message: { accountKeys: [SYSTEM_PROGRAM.toString()] } },
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

const endpointOf = (answer: unknown) => fakeEndpoint({ getTransaction: () => answer });
const readFrom = (endpoint: RpcEndpoint) =>
  fetchRecord(createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} }), endpoint, "signature");
const read = (answer: unknown) => readFrom(endpointOf(answer));

test("the record is decoded exactly, loaded addresses after the message's own", async () => {
  const endpoint = endpointOf(record);
  expect(await readFrom(endpoint)).toEqual({
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
  expect(endpoint.calls[0]!.params[1]).toMatchObject({
    commitment: "confirmed",
    maxSupportedTransactionVersion: 1,
  });
});

test("lamports that programs sent are told in order; undefined if the node keeps no inner instructions", async () => {
  const instruction = (programIdIndex: number, bytes: readonly number[], accounts = [0, 2]) => ({
    programIdIndex,
    accounts,
    data: bs58.encode(Uint8Array.from(bytes)),
    stackHeight: 2,
  });
  const transfer = [2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0];
  const innerInstructions = [
    {
      index: 3,
      instructions: [instruction(0, transfer), instruction(1, transfer), instruction(0, [8, ...transfer.slice(1)])],
    },
    { index: 4, instructions: [instruction(0, transfer, [2, 1]), instruction(0, [...transfer, 0])] },
  ];
  expect(await read({ ...record, meta: { ...record.meta, innerInstructions } })).toMatchObject({
    transfers: [
      { to: TOKEN_PROGRAM, lamports: 513n },
      { to: SOL_MINT, lamports: 513n },
    ],
  });
  expect(await read({ ...record, meta: { ...record.meta, innerInstructions: [] } })).toMatchObject({ transfers: [] });
  for (const none of [undefined, null])
    expect((await read({ ...record, meta: { ...record.meta, innerInstructions: none } }))!.transfers).toBeUndefined();
});

test("the same answer is decoded once, another one by itself", async () => {
  const other = { ...record, slot: 78 };
  const endpoints = [record, record, other, other].map(endpointOf);
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  const last = { result: undefined, record: null };
  const read = async (i: number) => fetchRecord(pool, endpoints[i]!, "signature", last);
  const [first, same, later] = [await read(0), await read(1), await read(2)];
  expect(first).toMatchObject({ slot: 77n });
  expect(same).toBe(first);
  expect(later).toMatchObject({ slot: 78n });
  expect(await read(3)).toBe(later);
});

test("a record that the node does not have yet is null", async () => {
  expect(await read(null)).toBe(null);
});

test.each([
  ["malformed", { ...record, meta: { ...record.meta, preBalances: ["1"] } }],
  ["without metadata", { ...record, meta: null }],
  ["of another transaction", { ...record, transaction: { ...record.transaction, signatures: ["another"] } }],
])("a record that is %s is an UPSTREAM_ERROR", async (_how, answer) => {
  await expect(read(answer)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
});

test.each([
  ["preTokenBalances", null],
  ["preTokenBalances", undefined],
  ["postTokenBalances", null],
  ["postTokenBalances", undefined],
])("a record whose %s are %s is none: nothing would seem to have moved", async (name, value) => {
  await expect(read({ ...record, meta: { ...record.meta, [name]: value } })).rejects.toMatchObject({
    kind: "malformed",
  });
});
