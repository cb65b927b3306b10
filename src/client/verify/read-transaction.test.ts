import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { readonly, writable } from "../../solana/instruction.ts";
import { compileMessage, compileMessageV1, unsignedTransaction } from "../../solana/message.ts";
import { readTransaction } from "./read-transaction.ts";

const address = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const [wallet, program, blockhash] = [address(1), address(2), address(3).bytes];

/** A legacy transaction with one instruction, whose data has its length written in these bytes. */
const withLength = (written: readonly number[], length: number): Uint8Array =>
  concatBytes(
    Uint8Array.of(1),
    new Uint8Array(64),
    Uint8Array.of(1, 0, 1, 2),
    wallet.bytes,
    program.bytes,
    blockhash,
    Uint8Array.of(1, 1, 0, ...written),
    new Uint8Array(length).fill(7),
  );

test.each([
  [[0x7f], 127],
  [[0x80, 0x01], 128],
  [[0xc8, 0x01], 200],
  [[0x81, 0x02], 257],
])("a length of the bytes %o is %d", (written, length) => {
  const { instructions } = readTransaction(withLength(written, length));
  expect(instructions).toEqual([{ program, accounts: [], data: new Uint8Array(length).fill(7) }]);
});

test.each([[[0x80, 0x00]], [[0x85, 0x00]], [[0x80, 0x80, 0x00]], [[0x80, 0x80, 0x04]], [[0x80, 0x80, 0x80, 0x01]]])(
  "a length of the bytes %o is refused: it has a shorter form, or is above 65,535",
  (written) => {
    expect(() => readTransaction(withLength(written, 0))).toThrow("a length in it is malformed");
  },
);

test("a length of 65,535 is one, though no transaction is as long", () => {
  expect(() => readTransaction(withLength([0xff, 0xff, 0x03], 0))).toThrow("it ends too early");
});

test("accounts of lookup tables follow the message's own: all that are written, then all that are read", () => {
  const tables = [20, 30].map((first) => ({
    address: address(first),
    entries: [1, 2, 3, 4].map((more) => address(first + more)),
  }));
  const [one, other] = tables.map(({ entries }) => entries);
  const accounts = [readonly(one![2]!), writable(other![0]!), writable(one![3]!), readonly(other![1]!)];
  const data = Uint8Array.of(5);
  const plan = { payer: wallet, instructions: [{ program, accounts, data }], blockhash, lookupTables: tables };
  const wire = unsignedTransaction(compileMessage(plan));
  const known = new Map(tables.map((table) => [table.address, table.entries]));
  const read = readTransaction(wire, known);
  expect(read.lookupTables).toEqual(tables.map((table) => table.address));
  expect(read.instructions[0]!.accounts.map(({ index, ...rights }) => rights)).toEqual(accounts);
  expect(read.instructions[0]!.accounts.map(({ index }) => index)).toEqual([4, 3, 2, 5]);
  const shorter = new Map(known).set(address(20), one!.slice(0, 3));
  expect(() => readTransaction(wire, shorter)).toThrow("has no entry 3");
  expect(() => readTransaction(wire, new Map())).toThrow("whose contents are missing");
});

test("a header that states half of a priority fee is refused, whether the fee follows or not", () => {
  const budget = { priorityFeeLamports: 1n, computeUnitLimit: 2, loadedBytesLimit: 3 };
  const instructions = [{ program, accounts: [], data: new Uint8Array() }];
  const message = compileMessageV1({ payer: wallet, instructions, blockhash }, budget);
  const feeAt = message.length - 4 - 16;
  const without = concatBytes(message.subarray(0, feeAt), message.subarray(feeAt + 8));
  const masked = (bytes: Uint8Array, mask: number) => unsignedTransaction(bytes.slice().fill(mask, 4, 5));
  expect(readTransaction(masked(message, 0b1111)).config?.priorityFeeLamports).toBe(1n);
  expect(readTransaction(masked(without, 0b1100)).config?.priorityFeeLamports).toBeUndefined();
  for (const bytes of [message, without])
    for (const mask of [0b1101, 0b1110])
      expect(() => readTransaction(masked(bytes, mask))).toThrow("its budget settings are malformed");
});
