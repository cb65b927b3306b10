import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stableInvariant, stablePrice, stableReserve } from "./stable-swap.ts";

const reserve = fc.bigInt(10n ** 9n, 10n ** 15n);

describe("stable swap", () => {
  it("has the sum as invariant of equal reserves", () => {
    expect(stableInvariant(100n, 10n ** 12n, 10n ** 12n)).toEqual({ value: 2n * 10n ** 12n, rounds: 1 });
    expect(stableInvariant(100n, 0n, 10n)?.value).toBe(0n);
  });

  it("finds the reserve the invariant came from", () => {
    fc.assert(
      fc.property(reserve, reserve, fc.bigInt(1n, 5_000n), (x, y, amplification) => {
        const invariant = stableInvariant(amplification, x, y);
        fc.pre(invariant !== undefined);
        const found = stableReserve(amplification, x, invariant.value)!;
        expect(Number(found.value) / Number(y)).toBeCloseTo(1, 5);
      }),
    );
  });

  it("approximates the invariant of reserves far apart for as long as it takes, and has none where it never settles", () => {
    expect(stableInvariant(1_000n, 1n << 50n, 3_000n)?.rounds).toBeGreaterThan(20);
    expect(stableInvariant(100n, 1n << 44n, 320n)).toBeUndefined();
  });

  it("has no invariant of reserves for which the program would need more than 192 bits", () => {
    // The last reserves that meteora_damm_v1 trades, and the first for which it refuses.
    for (const [amplification, x, trades, refuses] of [
      [100n, 1_000_000n, 2_324_144_116_048_882_000_000n, 2_324_144_116_048_883_000_000n],
      [1n, 50n, 85_622_201_309_042_958_000n, 85_622_201_309_042_959_000n],
      [5_000n, 10n ** 12n, 232_414_404_936_901n * 10n ** 9n, 232_414_404_936_902n * 10n ** 9n],
    ] as const) {
      expect(stableInvariant(amplification, x, trades)).toBeDefined();
      expect(stableInvariant(amplification, x, refuses)).toBeUndefined();
    }
  });

  it("rounds the cube of the invariant down twice, as the program does", () => {
    // Rounded once, both are one unit more: meteora_damm_v1 pays out one more unit than that quotes.
    const [first, second] = [
      stableReserve(100n, 5_183_828_328_649_124n, 7_563_280_215_798_281n),
      stableReserve(100n, 2_562_596_906_508_275n, 2_969_316_946_564_846n),
    ];
    expect([first?.value, second?.value]).toEqual([2_385_370_980_846_461n, 422_125_699_227_145n]);
  });

  it("prices at the slope of the curve", () => {
    const [x, y, amplification] = [3n * 10n ** 15n, 10n ** 15n, 20n];
    const { value: d } = stableInvariant(amplification, x, y)!;
    const [numerator, denominator] = stablePrice(amplification, x, y, d);
    const step = 10n ** 9n;
    const moved = y - stableReserve(amplification, x + step, d)!.value;
    expect(Number(moved) / Number(step)).toBeCloseTo(Number((numerator * 10n ** 9n) / denominator) / 1e9, 4);
  });
});
