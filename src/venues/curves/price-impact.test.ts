import { describe, expect, it } from "vitest";
import { priceImpact } from "./price-impact.ts";

describe("priceImpact", () => {
  it("is the share by which the price got worse", () => {
    expect(priceImpact(100n, 200n, 2n, 1n)).toBe(0);
    expect(priceImpact(100n, 150n, 2n, 1n)).toBe(0.25);
    expect(priceImpact(1_000_000n, 1_000_000n, 2_000_000n, 1_000_000n)).toBe(0.5);
  });

  it("stays within 0 and 1, even if nothing moves", () => {
    expect(priceImpact(0n, 0n, 1n, 1n)).toBe(0);
    expect(priceImpact(5n, 0n, 1n, 1n)).toBe(1);
    expect(priceImpact(1n, 3n, 2n, 1n)).toBe(0);
    expect(priceImpact(5n, 5n, 0n, 1n)).toBe(0);
  });
});
