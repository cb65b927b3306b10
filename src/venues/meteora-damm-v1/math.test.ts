import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SOL_MINT } from "../../solana/programs.ts";
import type { DammV1Pool, DammV1Vault, StableCurve } from "./layout.ts";
import {
  type DammV1Bench,
  dammV1Bench,
  dammV1ExactIn,
  dammV1ExactOut,
  dammV1Impact,
  freeAmount,
  type VaultShare,
} from "./math.ts";

const vault: DammV1Vault = {
  enabled: true,
  total: 20_000_000_000_000n,
  tokenVault: SOL_MINT,
  shareMint: SOL_MINT,
  lockedProfit: 1_000_000_000n,
  lastReport: 1_000n,
  degradation: 46_296_296n,
};
const share = (shares: bigint): VaultShare => ({
  vault,
  shares,
  supply: 19_000_000_000_000n,
  reserve: 15_000_000_000_000n,
});
const pool: DammV1Pool = {
  enabled: true,
  tradeFee: { numerator: 250n, denominator: 100_000n },
  protocolFee: { numerator: 20_000n, denominator: 100_000n },
  activationPoint: 0n,
  countsSeconds: true,
  stable: undefined,
};
const stable: StableCurve = {
  amplification: 100n,
  multipliers: [1n, 1n],
  depeg: "stakePool",
  rememberedPrice: 1_100_000n,
  rememberedAt: 2_000n,
};
const bench = (change: Partial<DammV1Pool> = {}, now = 2_000n, stakedPrice?: bigint): DammV1Bench | undefined =>
  dammV1Bench({
    pool: { ...pool, ...change },
    from: 0,
    source: share(5_000_000_000_000n),
    target: share(4_000_000_000_000n),
    stakedPrice,
    now,
  });

describe("vault profit", () => {
  it("unlocks second by second", () => {
    expect(freeAmount(vault, 1_000n)).toBe(vault.total - 1_000_000_000n);
    expect(freeAmount(vault, 11_800n)).toBe(vault.total - 500_000_003n);
    expect(freeAmount(vault, 1_000_000n)).toBe(vault.total);
  });
});

describe("DAMM v1 maths", () => {
  it("takes at least one unit of fee", () => {
    expect(dammV1ExactIn(bench()!, 100n)!.netIn).toBeLessThan(100n);
    expect(dammV1ExactIn(bench({ tradeFee: { numerator: 0n, denominator: 1n } })!, 1n)).toBeUndefined();
  });

  it("finds the least input that gives an output", () => {
    for (const state of [bench()!, bench({ stable })!]) {
      fc.assert(
        fc.property(fc.bigInt(1n, 2_000_000_000_000n), (output) => {
          const fill = dammV1ExactOut(state, output)!;
          expect(fill.output).toBeGreaterThanOrEqual(output);
          const less = dammV1ExactIn(state, fill.input - 1n);
          if (less !== undefined) expect(less.output).toBeLessThan(output);
        }),
        { numRuns: 50 },
      );
    }
  });

  it("gives nothing beyond what the pool owns or the vault holds", () => {
    expect(dammV1ExactOut(bench()!, 10n ** 14n)).toBeUndefined();
    const trade = bench()!.trade;
    const lent = dammV1Bench({ ...trade, target: { ...trade.target, reserve: 1_000n } })!;
    expect(dammV1ExactOut(lent, 1_000n)).toBeUndefined();
    expect(dammV1ExactOut(lent, 900n)?.output).toBeLessThan(1_000n);
    expect(dammV1Bench({ ...trade, source: share(0n) })).toBeUndefined();
  });

  it("uses the stored value of staked SOL for ten minutes, then reads it", () => {
    const out = (now: bigint, price?: bigint) => dammV1ExactIn(bench({ stable }, now, price)!, 10n ** 9n)!.output;
    expect(out(2_600n, 1_300_000n)).toBe(out(2_600n));
    expect(out(2_601n, 1_300_000n)).toBeLessThan(out(2_601n, 1_100_000n));
    expect(bench({ stable }, 2_601n)).toBeUndefined();
  });

  it("measures impact from no price change to all", () => {
    for (const state of [bench()!, bench({ stable })!]) {
      const impact = (input: bigint) => dammV1Impact(state, dammV1ExactIn(state, input)!);
      expect(impact(10n ** 6n)).toBeLessThan(0.0001);
      expect(impact(4n * 10n ** 12n)).toBeGreaterThan(impact(10n ** 11n));
    }
  });
});

describe("a pool of a few units", () => {
  const tiny = (shares: bigint): VaultShare => ({
    vault: { ...vault, total: shares, lockedProfit: 0n },
    shares,
    supply: shares,
    reserve: shares,
  });
  const small = dammV1Bench({
    pool,
    from: 0,
    source: tiny(2_000n),
    target: tiny(2_000n),
    stakedPrice: undefined,
    now: 2_000n,
  })!;

  it("refuses what would leave less than one unit, as the program does, and gives all up to that", () => {
    const most = dammV1ExactIn(small, 3_990_000n)!;
    expect(most.output).toBe(1_998n);
    // The constant product is 4,000,000: with more on one side, the other rounds to nothing.
    expect(dammV1ExactIn(small, 4_100_000n)).toBeUndefined();
    expect(dammV1ExactIn(small, 1n << 60n)).toBeUndefined();
    expect(dammV1ExactOut(small, 1_998n)!.input).toBeLessThan(4_100_000n);
  });
});

describe("a stable pool that is nearly drained of one token", () => {
  const held = (shares: bigint): VaultShare => ({
    vault: { ...vault, total: shares, lockedProfit: 0n },
    shares,
    supply: shares,
    reserve: shares,
  });
  const drained = dammV1Bench({
    pool: { ...pool, tradeFee: { numerator: 10n, denominator: 100_000n }, stable: { ...stable, depeg: "none" } },
    from: 0,
    source: held(2_565n),
    target: held(176_846_855_984_361n),
    stakedPrice: undefined,
    now: 2_000n,
  })!;

  it("gives what the approximation is off by for a unit that is all fee, as the program does", () => {
    const fill = dammV1ExactIn(drained, 1n)!;
    expect([fill.netIn, fill.output]).toEqual([0n, 59n]);
    expect(dammV1ExactOut(drained, 59n)).toEqual(fill);
    expect(dammV1Impact(drained, fill)).toBe(0);
  });

  it("gives one of its last units for much more than it holds of a token that is worth little", () => {
    const coarse: StableCurve = { ...stable, depeg: "none", multipliers: [1n, 10n ** 9n] };
    const last = dammV1Bench({
      pool: { ...pool, tradeFee: { numerator: 100n, denominator: 100_000n }, stable: coarse },
      from: 0,
      source: held(65_917_037n),
      target: held(3n),
      stakedPrice: undefined,
      now: 2_000n,
    })!;
    const fill = dammV1ExactOut(last, 1n)!;
    expect(fill.output).toBe(1n);
    expect(dammV1ExactIn(last, fill.input - 1n)).toBeUndefined();
    expect(dammV1ExactOut(last, 3n)).toBeUndefined();
  });
});
