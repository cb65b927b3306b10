import { expect, test } from "vitest";
import { isCredible } from "./landing-head.ts";

/** The head, 1,000 slots after the message's last block, so many of them skipped since it landed. */
const headAfter = (skipped: bigint) => ({
  slot: () => 11_150n,
  blockHeight: () => 11_150n - 1_000n - skipped,
  slotMs: () => 200,
});
const LAST_HEIGHT = 9_150n;

test.each([0n, 60n, 500n])(
  "a trade is found where it landed long ago, though %i slots were skipped since",
  (skipped) => {
    // The block at height 9,001, the first that the message can be in.
    expect(isCredible({ slot: 10_001n }, LAST_HEIGHT, headAfter(skipped))).toBe(true);
  },
);

test("a slot before the message's lifetime is not credible, nor one after it, nor one ahead of the chain", () => {
  const head = { slot: () => 10_100n, blockHeight: () => 9_100n, slotMs: () => 200 };
  const at = (slot: bigint) => isCredible({ slot }, LAST_HEIGHT, head);
  expect([9_850n, 10_001n, 10_100n, 10_141n].map(at)).toEqual([false, true, true, false]);
  expect(isCredible({ slot: 10_200n }, LAST_HEIGHT, headAfter(0n))).toBe(false);
});
