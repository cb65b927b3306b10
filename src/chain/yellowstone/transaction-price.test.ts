import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { expect, it } from "vitest";
import { decodeTransactionPrice } from "./transaction-price.ts";

const SLOT = 77;
const BYTES = 2;

/** An update with a transaction that one key signs and writes to, and with what its message states of fee and limit. */
function update(config: readonly (readonly [field: number, value: number])[] | undefined): Uint8Array {
  const stated = new BinaryWriter();
  for (const [field, value] of config ?? []) stated.tag(field, 0).uint32(value);
  const header = new BinaryWriter().tag(1, 0).uint32(1).finish();
  const message = new BinaryWriter().tag(1, BYTES).bytes(header).tag(2, BYTES).bytes(new Uint8Array(32).fill(4));
  if (config !== undefined) message.tag(7, BYTES).bytes(stated.finish());
  const transaction = new BinaryWriter().tag(2, BYTES).bytes(message.finish()).finish();
  const info = new BinaryWriter().tag(3, BYTES).bytes(transaction).finish();
  const outer = new BinaryWriter().tag(1, BYTES).bytes(info).tag(2, 0).uint32(SLOT).finish();
  return new BinaryWriter().tag(4, BYTES).bytes(outer).finish();
}

it.each([
  [
    "fee over limit",
    [
      [1, 700],
      [2, 10_000],
    ],
    70_000n,
  ],
  ["no limit, so no units", [[1, 700]], 0n],
  ["a limit alone", [[2, 10_000]], 0n],
  ["nothing stated: another version", undefined, 0n],
] as const)("the price of a version 1 message: %s", (_name, config, price) => {
  expect(decodeTransactionPrice(update(config))).toMatchObject({ slot: BigInt(SLOT), price });
});
