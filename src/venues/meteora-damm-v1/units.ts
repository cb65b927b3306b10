import { maxOf } from "../../primitives/integer.ts";
import type { DammV1Bench, DammV1Fill } from "./math.ts";

const SWAP_UNITS = 93_500;
/** For each vault that unlocks profit: up to 2,295 with reserves near 2^58. */
const LOCKED_UNITS = 2_600;
const FIRST_ROUNDS = 20;

/**
 * For each round, where a reserve brought to the curve's precision has so many bits that divisors take two words, or products nearly
 * do. What staked SOL's worth takes is measured on such reserves, and includes that of a few rounds.
 */
const WIDE = 1n << 63n;
const WIDE_UNITS = 1_600;
const NEARLY_WIDE = 1n << 56n;
const NEARLY_WIDE_UNITS = 700;
const DEPEG_UNITS = 19_000;
const DEPEG_ROUNDS = 12;

/**
 * Compute units, an upper bound measured on builds of 2025 and 2026; the older one uses about 11,000 more. The terms count profit
 * still unlocking in a vault. Stable pools add each round of approximation (beyond the first rounds, as in a drained pool, they
 * cost more) and the calculation with staked SOL's worth.
 */
export function unitsOf({ trade, stable, sourceHeld, targetHeld }: DammV1Bench, { rounds }: DammV1Fill): number {
  const locked = [trade.source, trade.target].filter(({ vault }) => vault.lockedProfit > 0n).length;
  const flat = SWAP_UNITS + LOCKED_UNITS * locked;
  if (stable === undefined || trade.pool.stable === undefined) return flat;
  const late = Math.max(0, stable.d.rounds - FIRST_ROUNDS);
  const all = stable.d.rounds + rounds;
  const wide = wideUnits(maxOf(sourceHeld * stable.scales[0], targetHeld * stable.scales[1]));
  const more = trade.pool.stable.depeg === "none" ? wide * all : DEPEG_UNITS + wide * Math.max(0, all - DEPEG_ROUNDS);
  return flat + 3_000 + 5_850 * stable.d.rounds + 2_000 * late + 2_850 * rounds + more;
}

function wideUnits(reserve: bigint): number {
  if (reserve >= WIDE) return WIDE_UNITS;
  return reserve >= NEARLY_WIDE ? NEARLY_WIDE_UNITS : 0;
}
