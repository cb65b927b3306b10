import fc from "fast-check";
import { expect, test } from "vitest";
import { ceilDiv, compareIntegers, maxOf, medianBy, minOf, squareRoot } from "./integer.ts";

test("a quotient is rounded up only if something is left over", () => {
  expect([0n, 1n, 6n, 7n, 8n].map((dividend) => ceilDiv(dividend, 7n))).toEqual([0n, 1n, 1n, 1n, 2n]);
});

test("a square root is whole, and rounded down", () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 1n << 200n), (value) => {
      const root = squareRoot(value);
      expect(root * root <= value && (root + 1n) * (root + 1n) > value).toBe(true);
    }),
  );
  expect([0n, 1n, 3n, 4n, 15n, 16n].map(squareRoot)).toEqual([0n, 1n, 1n, 2n, 3n, 4n]);
});

test("of two, the smaller and the larger", () => {
  expect([minOf(1n, 2n), minOf(2n, 1n), maxOf(1n, 2n), maxOf(2n, 1n)]).toEqual([1n, 1n, 2n, 2n]);
});

test("integers are sorted by value, and the median of an even number is the lower of the two in the middle", () => {
  expect([10n, -1n, 9n, 10n].sort(compareIntegers)).toEqual([-1n, 9n, 10n, 10n]);
  const of = (...heights: readonly bigint[]) =>
    medianBy(
      heights.map((height) => ({ height })),
      ({ height }) => height,
    ).height;
  expect([of(5n), of(9n, 5n), of(9n, 1n, 5n), of(9n, 1n, 5n, 7n)]).toEqual([5n, 5n, 5n, 5n]);
});
