import { expect, test } from "vitest";
import { createTestWallet } from "../../../../test/support/wallet.ts";
import type { TokenBalanceRecord, TransactionRecord } from "../../port.ts";
import { recordKey } from "./record-key.ts";

const [a, b, c] = [1, 2, 3].map((seed) => createTestWallet(new Uint8Array(32).fill(seed)).address) as [
  TransactionRecord["accounts"][number],
  TransactionRecord["accounts"][number],
  TransactionRecord["accounts"][number],
];
const tokens: readonly TokenBalanceRecord[] = [
  { accountIndex: 1, mint: a, owner: b, amount: 12n },
  { accountIndex: 0, mint: b, owner: undefined, amount: 3n },
];
const record: TransactionRecord = {
  slot: 1_100n,
  error: { InstructionError: [2, { Custom: 6_001 }] },
  feeLamports: 5_000n,
  accounts: [a, b],
  preBalances: [1n, 23n],
  postBalances: [4n, 5n],
  preTokenBalances: tokens,
  postTokenBalances: [],
  logs: ["Program log: hello", `Program ${a} failed: custom program error: 0x1771`],
  computeUnitsConsumed: 7n,
};

test("records that differ in what the transaction did have different keys", () => {
  const others: Partial<TransactionRecord>[] = [
    { slot: 1_101n },
    { error: null },
    { error: { InstructionError: [2, { Custom: 6_002 }] } },
    { feeLamports: 5_001n },
    { accounts: [b, a] },
    { accounts: [a, b, c] },
    { preBalances: [12n, 3n] },
    { preBalances: [1n], postBalances: [23n, 4n, 5n] },
    { preTokenBalances: [], postTokenBalances: tokens },
    { preTokenBalances: [tokens[0]!] },
    { preTokenBalances: tokens.map((one) => ({ ...one, accountIndex: one.accountIndex + 1 })) },
    { preTokenBalances: tokens.map((one) => ({ ...one, amount: one.amount + 1n })) },
    { preTokenBalances: tokens.map((one) => ({ ...one, owner: c })) },
    { preTokenBalances: tokens.map((one) => ({ ...one, mint: c })) },
    { logs: [`Program ${b} failed: custom program error: 0x1771`] },
  ];
  const keys = [record, ...others.map((other) => ({ ...record, ...other }))].map((one) => recordKey(one, true));
  expect(new Set(keys).size).toBe(others.length + 1);
});

test("what nodes may write otherwise is left out", () => {
  const same: Partial<TransactionRecord>[] = [
    { preTokenBalances: tokens.toReversed() },
    { computeUnitsConsumed: undefined },
    { logs: [record.logs[1]!, "Program log: another"] },
  ];
  for (const other of same) expect(recordKey({ ...record, ...other }, true)).toBe(recordKey(record, true));
  expect(recordKey({ ...record, logs: ["Log truncated"] }, false)).toBe(recordKey(record, false));
});
