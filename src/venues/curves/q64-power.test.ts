import { describe, expect, it } from "vitest";
import { Q64_ONE, q64Power } from "./q64-power.ts";

describe("q64Power", () => {
  it("is one for the exponent zero, and the base for one", () => {
    expect(q64Power(Q64_ONE / 2n, 0)).toBe(Q64_ONE);
    expect(q64Power(Q64_ONE / 2n, 1)).toBe(Q64_ONE / 2n);
  });

  it("follows the real power closely, up and down", () => {
    const base = Q64_ONE + Q64_ONE / 10_000n;
    for (const exponent of [1, 77, -77, 5000, -5000, 200_000]) {
      expect(Number(q64Power(base, exponent)) / 2 ** 64 / 1.0001 ** exponent).toBeCloseTo(1, 9);
    }
  });

  it("is zero past the largest exponent", () => {
    expect(q64Power(Q64_ONE + 1n, 0x80000)).toBe(0n);
  });
});

it("takes no time for a base below zero, which no program has", () => {
  expect(q64Power(-(1n << 110n), 0x7ffff)).toBe(0n);
});
