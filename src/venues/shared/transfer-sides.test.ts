import { expect, test } from "vitest";
import { U64_MAX } from "../../primitives/integer.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { arriving, mayBeTaxed, sending } from "./transfer-sides.ts";

const fee = { epoch: 0n, maximumFee: U64_MAX, bps: 150n };

test("arriving and sending are inverse to each other", () => {
  expect([arriving(10_000n, fee), sending(9_850n, fee)]).toEqual([9_850n, 10_000n]);
  expect([arriving(7n, undefined), sending(7n, undefined)]).toEqual([7n, 7n]);
});

test("sending is undefined above 64 bits", () => {
  const most = arriving(U64_MAX, fee);
  expect(sending(most, fee)).toBeLessThanOrEqual(U64_MAX);
  expect(sending(most + 1n, fee)).toBeUndefined();
  expect([sending(U64_MAX, undefined), sending(U64_MAX + 1n, undefined)]).toEqual([U64_MAX, undefined]);
});

test("a fee announced for the next epoch counts: it may be in force when a trade lands", () => {
  const free = { ...fee, bps: 0n };
  const announced = { transferFees: { older: free, newer: { ...fee, epoch: 12n } } } as Mint;
  expect([10n, 11n, 12n].map((epoch) => mayBeTaxed(announced, epoch))).toEqual([false, true, true]);
  const ending = { transferFees: { older: fee, newer: { ...free, epoch: 12n } } } as Mint;
  expect([10n, 11n, 12n].map((epoch) => mayBeTaxed(ending, epoch))).toEqual([true, true, false]);
  expect(mayBeTaxed({ transferFees: undefined } as Mint, 1n)).toBe(false);
});
