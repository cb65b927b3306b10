import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { U64_MAX } from "./integer.ts";
import { maximumIn, minimumOut, parseSlippage, passingShare } from "./slippage.ts";

test("slippage is exact to nine digits", () => {
  expect(parseSlippage(0)).toBe(0n);
  expect(parseSlippage(0.05)).toBe(50_000_000n);
  expect(parseSlippage(0.000000001)).toBe(1n);
  expect(parseSlippage(0.9999999999)).toBe(999_999_999n);
});

test.each([1, -0.1, Number.NaN, 2, Number.POSITIVE_INFINITY])("slippage %s is refused", (value) => {
  expect(parseSlippage(value)).toBeUndefined();
});

test("bounds round in the user's favour, and are the quote itself at slippage 0", () => {
  expect(minimumOut(1001n, 500_000_000n)).toBe(501n);
  expect(maximumIn(1001n, 500_000_000n)).toBe(1501n);
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: U64_MAX }), fc.bigInt({ min: 0n, max: 999_999_999n }), (amount, slippage) => {
      expect(minimumOut(amount, 0n)).toBe(amount);
      expect(maximumIn(amount, 0n)).toBe(amount);
      expect(minimumOut(amount, slippage) <= amount).toBe(true);
      expect(maximumIn(amount, slippage) >= amount).toBe(true);
      // Programs take 64 bits: what is above would wrap around to next to nothing.
      expect(maximumIn(amount, slippage) <= U64_MAX).toBe(true);
    }),
  );
});

describe("passingShare", () => {
  it("is half of the slippage, rounded down", () => {
    expect(passingShare(0n, true)).toBe(0n);
    expect(passingShare(7n, false)).toBe(3n);
    expect(passingShare(10_000_000n, true)).toBe(5_000_000n);
    expect(passingShare(40_000_000n, false)).toBe(20_000_000n);
  });

  it("is at most 0.5 % between hubs and 2 % elsewhere, at any slippage", () => {
    for (const slippage of [40_000_001n, 50_000_000n, 500_000_000n, 999_999_999n]) {
      expect(passingShare(slippage, true)).toBe(5_000_000n);
      expect(passingShare(slippage, false)).toBe(20_000_000n);
    }
  });
});
