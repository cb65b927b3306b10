import { createDammV1Pool, type NewDammV1Pool, reportProfit } from "../venues/support/meteora-damm-v1.ts";
import {
  createDammV2Pool,
  limiterFee,
  MAX_SQRT_PRICE,
  MIN_SQRT_PRICE,
  marketCapFee,
  timeFee,
} from "../venues/support/meteora-damm-v2.ts";
import { createDbcPool, type NewDbcPool } from "../venues/support/meteora-dbc.ts";
import { randomDbcPool } from "../venues/support/random-curves.ts";
import { type Draw, type Drawing, depth, isToken2022, ONE, type Place, provided } from "./market-draw.ts";

const DECIMALS_OFFSET = 44;
/** Of 100 000 in the customizable pools; in bps of the others. */
const NUMERATORS = [250, 1_000, 6_000] as const;

export function drawDammV1(draw: Draw): Place | undefined {
  const { svm, random, mints } = draw;
  if (mints.some((mint) => isToken2022(svm, mint))) return undefined;
  const [mintA, mintB] = mints;
  const shape = random.chance(0.5)
    ? stableShape(draw)
    : { amountA: depth(random), amountB: depth(random), fee: { numerator: random.pick(NUMERATORS) } };
  const address = createDammV1Pool(svm, provided(draw), { mintA, mintB, ...shape });
  if (random.chance(0.4)) {
    // A vault may be that of several pools. Profit that is free leaves shares worth twice as much at most, as real ones are, or dozens of
    // units on a deep pool; what is locked while the pool is drained could leave them worth thousands, and no exact output close to its order.
    const [mint, amount] = random.pick([[mintA, shape.amountA] as const, [mintB, shape.amountB] as const]);
    const isDeep = amount > 1_000_000n && amount < 1n << 55n;
    const most = isDeep && random.chance(0.3) ? amount * 50n : amount;
    const [profit, age] = random.pick([[most, 200_000n] as const, [amount / 100_000n + 1n, 900n] as const]);
    const since = svm.clock().unixTimestamp - age;
    reportProfit(svm, mint, random.magnitude(profit), random.pick([46_296_296n, 11_574_074n]), since);
  }
  return { venue: "meteora_damm_v1", address, mints };
}

/** As much of one token as of the other: the program makes no other stable pool. */
function stableShape({ svm, random, mints }: Draw): Omit<NewDammV1Pool, "mintA" | "mintB"> {
  const decimals = mints.map((mint) => svm.get(mint)!.data[DECIMALS_OFFSET]!);
  const precision = Math.max(...decimals);
  const multipliers = decimals.map((places) => 10n ** BigInt(precision - places)) as [bigint, bigint];
  const size = depth(random);
  const most = multipliers[0] * multipliers[1];
  const [amountA, amountB] = [multipliers[1], multipliers[0]].map((factor) => (size / most + 1n) * factor) as [
    bigint,
    bigint,
  ];
  return {
    amountA,
    amountB,
    fee: { tierBps: random.pick([1n, 10n, 100n]) },
    stable: { amplification: 100n, multipliers, precision },
  };
}

export function drawDammV2(draw: Draw): Place {
  const { svm, random, mints } = draw;
  const size = depth(random);
  const collectFeeMode = random.pick([0, 1, 0, 1, 2]);
  const sqrtPrice = random.pick([ONE, ONE * 5n, ONE / 11n]);
  const width = random.pick([undefined, undefined, 2n, 30n]);
  const isRanged = width !== undefined && collectFeeMode !== 2;
  const baseFee = random.pick([
    timeFee(2_500_000n, 0, 0n, 0n, false),
    timeFee(500_000_000n, 100, 60n, 4_000_000n, false),
    timeFee(500_000_000n, 100, 20n, 300n, true),
    timeFee(100_000n, 0, 0n, 0n, false),
    timeFee(990_000_000n, 0, 0n, 0n, false),
    marketCapFee(300_000_000n, 50, 100, 86_400, 5_000_000n, false),
    marketCapFee(400_000_000n, 80, 50, 86_400, 300n, true),
    ...(collectFeeMode === 1 ? [limiterFee(10_000_000n, 100, 40_000, 5_000, size / 100n + 1n)] : []),
  ]);
  const address = createDammV2Pool(svm, provided(draw), {
    mintA: mints[0],
    mintB: mints[1],
    baseFee,
    volatility: random.chance(0.4),
    sqrtPrice,
    liquidity: size << 64n,
    minSqrtPrice: isRanged ? sqrtPrice - sqrtPrice / width : MIN_SQRT_PRICE,
    maxSqrtPrice: isRanged ? sqrtPrice + sqrtPrice / width : MAX_SQRT_PRICE,
    countsSeconds: random.chance(0.5),
    collectFeeMode,
    ...(collectFeeMode === 2 ? { compoundingBps: random.pick([1, 5_000, 10_000]) } : {}),
  });
  return { venue: "meteora_damm_v2", address, mints };
}

const LAUNCH_FEES = [
  { cliff: 10_000_000n, first: 0, second: 0n, third: 0n, mode: 0 },
  { cliff: 500_000_000n, first: 100, second: 60n, third: 4_000_000n, mode: 0 },
  { cliff: 900_000_000n, first: 120, second: 30n, third: 250n, mode: 1 },
] as const;

/** A launch, quoted in the first mint; it makes its coin itself. */
export function drawDbc({ svm, random, mints, insider }: Draw): Place | undefined {
  const [quoteMint] = mints;
  const shape = random.chance(0.6) ? evenLaunch(random) : randomDbcPool(random);
  const { address, baseMint } = createDbcPool(svm, insider, { ...shape, quoteMint });
  return { venue: "meteora_dbc", address, mints: [quoteMint, baseMint] };
}

/** Two stretches, about as deep as other markets of the world. */
function evenLaunch(random: Drawing): Omit<NewDbcPool, "quoteMint"> {
  const size = depth(random);
  const limiter = { cliff: 10_000_000n, first: 100, second: 43_000n, third: size / 50n + 1n, mode: 2 };
  const baseFee = random.pick([...LAUNCH_FEES, limiter]);
  return {
    baseFee,
    volatility: random.chance(0.4),
    collectFeeMode: random.pick([0, 1]),
    countsSeconds: baseFee.mode !== 2 && random.chance(0.7),
    token2022: random.chance(0.5),
    decimals: random.pick([6, 9]),
    migrationThreshold: (size * 3n) / 2n,
    sqrtStartPrice: ONE,
    curve: [
      { sqrtPrice: (ONE * 12n) / 10n, liquidity: (2n * size) << 64n },
      { sqrtPrice: 3n * ONE, liquidity: (3n * size) << 64n },
    ],
    eagerFirstSwap: random.chance(0.2),
  };
}
