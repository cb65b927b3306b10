import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { capacityOf } from "./transaction-capacity.ts";

const table = (entries: number) => ({
  address: Address.from(new Uint8Array(32).fill(1)),
  entries: Array.from({ length: entries }, (_, index) => Address.from(new Uint8Array(32).fill(index))),
});

test("trades share what fits only with the same version, tables and entries", () => {
  const seen = [
    capacityOf({ lookupTables: () => [], settings: { transactionV1: true } }, {}),
    capacityOf({ lookupTables: () => [table(2)], settings: { transactionV1: true } }, {}),
    capacityOf({ lookupTables: () => [table(3)], settings: { transactionV1: true } }, {}),
    capacityOf({ lookupTables: () => [table(3)], settings: { transactionV1: true } }, { maxTransactionVersion: 1 }),
  ];
  expect(new Set(seen).size).toBe(seen.length);
  const off = capacityOf(
    { lookupTables: () => [table(3)], settings: { transactionV1: false } },
    { maxTransactionVersion: 1 },
  );
  expect(off).toBe(seen[2]);
});
