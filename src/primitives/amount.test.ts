import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatAmount, limitUnits, parseAmount, toWholeUnits } from "./amount.ts";
import { U64_MAX } from "./integer.ts";

describe("parseAmount", () => {
  test("reads a number as the shortest decimal that prints it", () => {
    expect(parseAmount(0.1, 9)).toBe(100_000_000n);
    expect(parseAmount(0.3, 9)).toBe(300_000_000n);
    expect(parseAmount(1e-9, 9)).toBe(1n);
    expect(parseAmount(1.5e-7, 9)).toBe(150n);
    expect(parseAmount(123456789.123456, 6)).toBe(123_456_789_123_456n);
    expect(parseAmount(1e19, 0)).toBe(10_000_000_000_000_000_000n);
  });

  test("truncates toward zero", () => {
    expect(parseAmount(1.9999999999, 9)).toBe(1_999_999_999n);
    expect(parseAmount(0.19, 1)).toBe(1n);
    expect(parseAmount(5.7, 0)).toBe(5n);
  });

  test.each([
    [0, 9],
    [-1, 9],
    [Number.NaN, 9],
    [Number.POSITIVE_INFINITY, 9],
    [1e-10, 9],
    [0.9, 0],
    [1e11, 9],
    [2 ** 64, 0],
    [1e300, 6],
  ])("refuses %s with %s decimals", (value, decimals) => {
    expect(parseAmount(value, decimals)).toBeUndefined();
  });

  test("every amount of up to fifteen digits comes back from its number", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }), fc.integer({ min: 0, max: 9 }), (amount, decimals) => {
        expect(parseAmount(toWholeUnits(amount, decimals), decimals)).toBe(amount);
      }),
    );
  });
});

test("toWholeUnits is the number nearest to the exact decimal", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -U64_MAX, max: U64_MAX }), fc.integer({ min: 0, max: 30 }), (amount, decimals) => {
      for (const value of [amount, amount >> 16n]) {
        // Zero has no sign here.
        expect(toWholeUnits(value, decimals) + 0).toBe(Number(formatAmount(value, decimals)) + 0);
      }
    }),
  );
});

test("formatAmount writes exact decimals", () => {
  expect(formatAmount(0n, 9)).toBe("0");
  expect(formatAmount(1n, 9)).toBe("0.000000001");
  expect(formatAmount(1_500_000_000n, 9)).toBe("1.5");
  expect(formatAmount(-25n, 1)).toBe("-2.5");
  expect(formatAmount(U64_MAX, 0)).toBe("18446744073709551615");
});

test("a limit covers what is exactly at it, and nothing above", () => {
  for (let lamports = 0; lamports < 20_000; lamports++) expect(limitUnits(lamports / 1e9, 9)).toBe(BigInt(lamports));
  expect(limitUnits(2.99e-8, 9)).toBe(29n);
  expect([0, -1, 1e-10, Number.NaN].map((limit) => limitUnits(limit, 9))).toEqual([0n, 0n, 0n, 0n]);
  expect([1e30, Number.POSITIVE_INFINITY].map((limit) => limitUnits(limit, 9))).toEqual([U64_MAX, U64_MAX]);
});
