import type { Random } from "../../../../src/primitives/random.ts";
import { SOL_MINT, USDC_MINT } from "../../../../src/solana/programs.ts";
import type { NewDbcPool } from "./meteora-dbc.ts";

/** The most coins that a stretch may sell. Base units. */
const MOST_COINS = 10n ** 17n;
const SLOTS_LIMITED = 43_000n;

/**
 * A bonding curve of any shape: prices over forty orders of two, stretches of liquidity as unlike as the numbers allow, every kind of fee. Not
 * every one is accepted by the program.
 */
export function randomDbcPool(random: Random): NewDbcPool {
  const { start, curve, quote } = randomCurve(random);
  const baseFee = randomFee(random);
  return {
    quoteMint: random.pick([SOL_MINT, USDC_MINT]),
    baseFee,
    volatility: random.chance(0.4),
    collectFeeMode: random.pick([0, 1]),
    countsSeconds: baseFee.mode !== 2 && random.chance(0.5),
    token2022: random.chance(0.4),
    decimals: random.pick([6, 7, 8, 9]),
    migrationThreshold: (quote * random.pick([50n, 80n, 95n])) / 100n + 1n,
    sqrtStartPrice: start,
    curve,
    eagerFirstSwap: random.chance(0.4),
  };
}

/** Stretches above a first price, and what all of them take in quote. */
function randomCurve(random: Random) {
  const narrowness = random.pick([1_000n, 100n, 10n, 2n, 1n]);
  const least = 1n << BigInt(random.pick([46, 52, 56, 60, 63]));
  const start = random.between(least, 1n << BigInt(random.pick([64, 64, 66])));
  const curve: { sqrtPrice: bigint; liquidity: bigint }[] = [];
  let sqrtPrice = start;
  let quote = 0n;
  for (let left = random.pick([1, 1, 2, 3, 5, 8, 13, 16, 20]); left > 0; left--) {
    const lower = sqrtPrice;
    sqrtPrice += random.between(1n, lower / narrowness) + 1_000_000n;
    const rise = sqrtPrice - lower;
    const wanted = random.magnitude(random.pick([10n ** 9n, 10n ** 11n, 10n ** 13n])) + 10n;
    const most = (MOST_COINS * sqrtPrice * lower) / rise;
    const whole = (wanted << 128n) / rise;
    const liquidity = whole < most ? whole : most;
    quote += (liquidity * rise) >> 128n;
    curve.push({ sqrtPrice, liquidity });
  }
  return { start, curve, quote };
}

function randomFee(random: Random): NewDbcPool["baseFee"] {
  return random.pick([
    { cliff: random.pick([2_500_000n, 10_000_000n, 100_000_000n]), first: 0, second: 0n, third: 0n, mode: 0 },
    { cliff: 500_000_000n, first: 100, second: 60n, third: 4_900_000n, mode: 0 },
    { cliff: 900_000_000n, first: 120, second: 30n, third: 250n, mode: 1 },
    { cliff: 10_000_000n, first: 100, second: SLOTS_LIMITED, third: random.magnitude(10n ** 12n), mode: 2 },
  ]);
}
