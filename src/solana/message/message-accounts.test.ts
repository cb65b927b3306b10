import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { writable, writableSigner } from "../instruction.ts";
import { compileMessage, compileMessageV1 } from "../message.ts";
import { SYSTEM_PROGRAM } from "../programs.ts";
import { accountsOf, beginWithAccountsOf } from "./message-accounts.ts";

const [payer, other] = [9, 8].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
const blockhash = new Uint8Array(32).fill(1);
const accounts = [writableSigner(payer), writable(other)];
const instructions = [{ program: SYSTEM_PROGRAM, accounts, data: new Uint8Array(200) }];
const NAMED = [payer, other, SYSTEM_PROGRAM];

test("the accounts that a message names are read from messages of every version", () => {
  const message = compileMessage({ payer, blockhash, instructions, lookupTables: [] });
  const budget = { priorityFeeLamports: 7n, computeUnitLimit: 8, loadedBytesLimit: 9 };
  // A legacy message is the same without its prefix and its list of lookup tables.
  for (const one of [message, message.slice(1, -1), compileMessageV1({ payer, blockhash, instructions }, budget)])
    expect(accountsOf(one)).toEqual(NAMED);
});

test("accounts begin with those that a message names only if all of these come first, in order", () => {
  const message = compileMessage({ payer, blockhash, instructions, lookupTables: [] });
  expect(beginWithAccountsOf(message, NAMED)).toBe(true);
  expect(beginWithAccountsOf(message, [...NAMED, other])).toBe(true);
  expect(beginWithAccountsOf(message, NAMED.slice(0, -1))).toBe(false);
  expect(beginWithAccountsOf(message, [other, ...NAMED])).toBe(false);
  for (const at of NAMED.keys()) expect(beginWithAccountsOf(message, NAMED.with(at, NAMED.at(at - 1)!))).toBe(false);
});

test("none is read from a message that is cut", () => {
  const message = compileMessage({ payer, blockhash, instructions, lookupTables: [] });
  for (let end = 0; end < 5 + 32 * NAMED.length; end++) expect(accountsOf(message.subarray(0, end))).toEqual([]);
});
