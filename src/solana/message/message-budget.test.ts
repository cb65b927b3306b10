import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { setComputeUnitLimit, setComputeUnitPrice } from "../compute-budget.ts";
import { compileMessage, compileMessageV1 } from "../message.ts";
import { SYSTEM_PROGRAM } from "../programs.ts";
import { unitLimitOf } from "./message-budget.ts";

const payer = Address.from(new Uint8Array(32).fill(9));
const blockhash = new Uint8Array(32).fill(1);
const transfer = {
  program: SYSTEM_PROGRAM,
  accounts: [{ address: payer, signer: true, writable: true }],
  data: new Uint8Array(200).fill(2),
};

test("the limit is read from messages of every version, wherever its instruction is", () => {
  const budget = [setComputeUnitPrice(2n), setComputeUnitLimit(234_567)];
  for (const instructions of [
    [...budget, transfer],
    [transfer, ...budget],
  ]) {
    const message = compileMessage({ payer, blockhash, instructions, lookupTables: [] });
    expect(unitLimitOf(message)).toBe(234_567);
    // A legacy message is the same without its prefix and its list of lookup tables.
    expect(unitLimitOf(message.slice(1, -1))).toBe(234_567);
  }
  const limits = { priorityFeeLamports: 7n, computeUnitLimit: 76_543, loadedBytesLimit: 9 };
  expect(unitLimitOf(compileMessageV1({ payer, blockhash, instructions: [transfer] }, limits))).toBe(76_543);
});

test("a message without a limit, or cut short, has none", () => {
  const message = compileMessage({ payer, blockhash, instructions: [transfer], lookupTables: [] });
  expect(unitLimitOf(message)).toBeUndefined();
  expect(unitLimitOf(message.subarray(0, 60))).toBeUndefined();
});
