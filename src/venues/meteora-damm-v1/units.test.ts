import { expect, it } from "vitest";
import { SOL_MINT } from "../../solana/programs.ts";
import type { DammV1Pool } from "./layout.ts";
import { type DammV1Bench, dammV1Bench, dammV1ExactIn, dammV1ExactOut, type VaultShare } from "./math.ts";
import { unitsOf } from "./units.ts";

/** A for B: amplification, multipliers, reserves, amount, and the units that a build used, of 2026 and at the end of August 2025. */
type Measured = readonly [mode: string, bigint, readonly [bigint, bigint], bigint, bigint, bigint, used: number];
const MEASURED: readonly Measured[] = [
  ["exactIn", 10_000n, [1n, 1_000_000n], 6_368_304_658n, 15_019_454_037_964_045n, 19_026n, 284_959],
  ["exactIn", 10n, [1n, 1_000n], 137_315_437_255_444n, 30_835_722_952_962_132n, 11_066n, 217_505],
  ["exactIn", 1_000n, [1_000n, 1n], 2_555n, 1_755_758_580_835_718_244n, 218n, 263_046],
  ["exactOut", 1_000n, [1n, 1_000n], 1_936_844_822n, 4_081_761_790_984_056n, 1_801n, 223_882],
  ["exactOut", 100n, [1n, 1_000_000n], 2_605_704n, 3_214_628_258_254n, 939_506n, 278_574],
  ["exactIn", 100_000n, [1n, 1n], 2_464n, 63_014_726_345_640_305n, 1_443n, 253_278],
  ["exactOut", 10_000n, [1_000n, 1n], 11n, 49_243_170_968_901_493n, 1_364_393n, 252_760],
  ["exactOut", 100_000n, [1_000n, 1n], 1n, 7_878_973_911_589_756n, 4_273_846_734n, 243_363],
];

it.each(MEASURED)("bounds what far reserves of many bits take in a stable pool: %s at %d", (...measured) => {
  const [mode, amplification, multipliers, a, b, amount, used] = measured;
  const stable = { amplification, multipliers, depeg: "none", rememberedPrice: 0n, rememberedAt: 0n } as const;
  const bench = benchOf(wholeVault(a), wholeVault(b), stable);
  const fill = mode === "exactIn" ? dammV1ExactIn(bench, amount) : dammV1ExactOut(bench, amount);
  const bound = unitsOf(bench, fill!);
  expect(bound).toBeGreaterThanOrEqual(used);
  expect(bound).toBeLessThan(1.25 * used);
});

it("bounds what profit that both vaults unlock takes on the build of August 2025", () => {
  const bench = benchOf(unlocking(1n << 58n), unlocking(1n << 57n), undefined);
  expect(unitsOf(bench, dammV1ExactIn(bench, 15_655_550_733_740n)!)).toBeGreaterThanOrEqual(98_089);
});

function benchOf(source: VaultShare, target: VaultShare, stable: DammV1Pool["stable"]): DammV1Bench {
  const pool = {
    enabled: true,
    tradeFee: { numerator: 100n, denominator: 100_000n },
    protocolFee: { numerator: 20_000n, denominator: 100_000n },
    activationPoint: 0n,
    countsSeconds: true,
    stable,
  };
  return dammV1Bench({ pool, from: 0, source, target, stakedPrice: undefined, now: 1n })!;
}

function unlocking(total: bigint): VaultShare {
  const share = wholeVault(total);
  return { ...share, vault: { ...share.vault, lockedProfit: total / 3n, lastReport: 1n, degradation: 11_574_074n } };
}

function wholeVault(total: bigint): VaultShare {
  const vault = {
    enabled: true,
    total,
    tokenVault: SOL_MINT,
    shareMint: SOL_MINT,
    lockedProfit: 0n,
    lastReport: 0n,
    degradation: 0n,
  };
  return { vault, shares: total, supply: total, reserve: total };
}
