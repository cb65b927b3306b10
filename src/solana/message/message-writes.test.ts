import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { readonly, readonlySigner, writable, writableSigner } from "../instruction.ts";
import { compileMessage, compileMessageV1 } from "../message.ts";
import { SYSTEM_PROGRAM } from "../programs.ts";
import { accountsOf } from "./message-accounts.ts";
import { writtenBy } from "./message-writes.ts";

const address = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const [payer, signer, pool, vault, read, far, farRead, table] = [9, 8, 7, 6, 5, 4, 3, 2].map(address) as [
  Address,
  ...Address[],
];
const blockhash = new Uint8Array(32).fill(1);
const accounts = [writableSigner(payer), readonlySigner(signer!), writable(pool!), readonly(read!), writable(vault!)];
const instructions = [
  { program: SYSTEM_PROGRAM, accounts, data: new Uint8Array(200) },
  { program: SYSTEM_PROGRAM, accounts: [readonly(farRead!), writable(far!)], data: new Uint8Array(3) },
];
const plan = { payer, blockhash, instructions };
const lookupTables = [{ address: table!, entries: [farRead!, far!] }];
const withTable = compileMessage({ ...plan, lookupTables });

test("the accounts that a message writes to, in every version, its payer first", () => {
  const message = compileMessage({ ...plan, lookupTables: [] });
  const budget = { priorityFeeLamports: 7n, computeUnitLimit: 8, loadedBytesLimit: 9 };
  // A legacy message is the same without its prefix and its list of lookup tables.
  for (const one of [message, message.slice(1, -1), compileMessageV1(plan, budget)]) {
    const written = writtenBy(one, accountsOf(one));
    expect(written[0]).toBe(payer);
    expect(new Set(written)).toEqual(new Set([payer, pool, vault, far]));
    expect(written).toHaveLength(4);
  }
});

test("of the accounts of lookup tables, those that come first are written to", () => {
  const named = accountsOf(withTable);
  expect(named).not.toContain(far);
  expect(writtenBy(withTable, [...named, far, farRead])).toEqual([payer, pool, vault, far]);
  // The tables' accounts are not known from the message.
  expect(writtenBy(withTable, named)).toEqual([payer, pool, vault]);
});

test("none of a message that is cut", () => {
  const all = [...accountsOf(withTable), far, farRead];
  for (let end = 0; end < withTable.length; end++)
    expect(writtenBy(withTable.subarray(0, end), all), `${end}`).toEqual([]);
});
