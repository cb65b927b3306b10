import { viewOf } from "../../../src/primitives/bytes.ts";
import type { Random } from "../../../src/primitives/random.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { allBuildsOf } from "../venues/support/builds.ts";
import {
  addLiquidity as addBins,
  createDlmmPair,
  type DlmmBench,
  emptyBins,
  placeLimitOrders,
  STRATEGIES,
} from "../venues/support/meteora-dlmm.ts";
import { type AdaptiveFee, addLiquidity, createWhirlpool } from "../venues/support/orca-whirlpool.ts";
import { addClmmLiquidity, createClmmPool, writeClmmConfig, writeRewards } from "../venues/support/raydium-clmm.ts";
import { type Draw, type Drawing, depth, ONE, type Place, provided } from "./market-draw.ts";

export function drawClmm(draw: Draw): Place {
  const { svm, random, mints, index } = draw;
  const spacing = random.pick([1, 10, 60, 120]);
  const wallet = provided(draw);
  const config = writeClmmConfig(svm, index, spacing, random.pick([0, 100, 2_500, 10_000, 999_999]));
  const tick = Number(random.between(0n, 40n)) * 1_000 - 20_000;
  const pool = createClmmPool(svm, wallet, config, spacing, mints, clmmSqrtPrice(tick));
  const center = Math.round(tick / spacing) * spacing;
  for (const reach of [3, 20, 200, 1_000])
    if (reach === 20 || random.chance(0.7))
      addClmmLiquidity(svm, wallet, pool, center - reach * spacing, center + reach * spacing, depth(random));
  if (random.chance(0.2)) writeRewards(svm, pool.address, Number(random.between(1n, 3n)));
  return { venue: "raydium_clmm", address: pool.address, mints };
}

const TICK_OFFSET = 81;
/** The newest build that is there, in `.venues`, without `.so`. */
export const WHIRLPOOL_FILE =
  allBuildsOf("orca_whirlpool").at(-1)?.path.slice(".venues/".length, -".so".length) ?? "orca_whirlpool";
const WHIRLPOOL_BUILT = Number(/(\d{8})-/.exec(WHIRLPOOL_FILE)?.[1] ?? 0);
/** Builds that first knew fees that follow volatility, and tick arrays as small as their ticks. */
const KNOWS_VOLATILITY = WHIRLPOOL_BUILT >= 20250505;
const KNOWS_DYNAMIC = WHIRLPOOL_BUILT >= 20250705;

/** Like the tiers in use, or wilder. Groups divide the tick spacing. */
function drawAdaptiveFee(random: Random, tickSpacing: number): AdaptiveFee {
  const [filterPeriod, decayPeriod] = random.pick([[30, 600] as const, [5, 50] as const]);
  return {
    filterPeriod,
    decayPeriod,
    reductionFactor: random.pick([5_000, 0]),
    controlFactor: random.pick([4_000, 40_000, 99_999]),
    maximumVolatility: random.pick([350_000, 60_000]),
    groupSize: random.chance(0.5) ? tickSpacing : 1,
    majorSwapTicks: tickSpacing,
  };
}

export function drawWhirlpool(draw: Draw): Place {
  const { svm, random, mints, insider } = draw;
  const tickSpacing = random.pick([1, 8, 64, 128]);
  const wallet = provided(draw);
  const sqrtPrice = random.pick([ONE, ONE * 7n, ONE / 9n]);
  const feeRate = random.pick([0, 100, 2_500, 30_000, 60_000]);
  const adaptive = KNOWS_VOLATILITY && random.chance(0.4) ? drawAdaptiveFee(random, tickSpacing) : undefined;
  const pool = createWhirlpool(svm, {
    creator: insider,
    mints,
    tickSpacing,
    feeRate,
    sqrtPrice,
    ...(adaptive === undefined ? {} : { adaptive }),
    rewards: random.pick([0, 0, 1, 3]),
  });
  const tick = viewOf(svm.get(pool.address)!.data).getInt32(TICK_OFFSET, true);
  const center = Math.round(tick / tickSpacing) * tickSpacing;
  const addPosition = (reach: number): void => {
    const [lower, upper] = [center - reach * tickSpacing, center + reach * tickSpacing];
    addLiquidity(svm, wallet, pool, lower, upper, depth(random), KNOWS_DYNAMIC && random.chance(0.5));
  };
  for (const reach of [2, 30, 300]) if (reach === 30 || random.chance(0.7)) addPosition(reach);
  return { venue: "orca_whirlpool", address: pool.address, mints };
}

const CALM = { variableFeeControl: 0, maxVolatility: 0, filterPeriod: 0, decayPeriod: 1, reductionFactor: 0 };
const LIVELY = {
  variableFeeControl: 40_000,
  maxVolatility: 350_000,
  filterPeriod: 30,
  decayPeriod: 600,
  reductionFactor: 5_000,
};

/** That one instruction places. */
const MOST_ORDERS = 45;

export function drawDlmm(draw: Draw): Place {
  const { svm, random, mints } = draw;
  const activeId = random.pick([0, 0, 137, -933]);
  const limitOrders = random.chance(0.4);
  const bench = createDlmmPair(svm, provided(draw), ...mints, {
    ...random.pick([CALM, LIVELY]),
    binStep: random.pick([1, 5, 25, 100, 400]),
    baseFactor: random.pick([10_000, 10_000, 1, 60_000]),
    limitOrders,
    baseFeePower: random.pick([0, 0, 0, 1]),
    collectFeeMode: random.pick([0, 1]),
    activeId,
  });
  const reach = Number(random.between(1n, 4n));
  for (let array = -reach; array <= reach; array++) {
    const low = activeId + array * 50 - 25;
    if (array !== 0 && random.chance(0.3)) continue;
    const strategy = random.pick([STRATEGIES.spot, STRATEGIES.curve, STRATEGIES.bidAsk]);
    const [x, y] = [low + 49 >= activeId ? depth(random) : 0n, low <= activeId ? depth(random) : 0n];
    addBins(bench, x, y, { low, high: low + 49, activeId, strategy });
  }
  if (random.chance(0.3))
    emptyBins(
      bench,
      idsAround(activeId, random).filter(() => random.chance(0.5)),
    );
  if (limitOrders && random.chance(0.8)) for (const sellX of [true, false]) placeOrders(bench, random, activeId, sellX);
  return { venue: "meteora_dlmm", address: bench.pair, mints };
}

/** Bins beside the active one, those nearest to it too. */
function idsAround(activeId: number, random: Random): number[] {
  const reach = Number(random.between(2n, 60n));
  return Array.from({ length: 2 * reach + 1 }, (_, index) => activeId - reach + index).filter((id) => id !== activeId);
}

function placeOrders(bench: DlmmBench, random: Drawing, activeId: number, sellX: boolean): void {
  const ids = idsAround(activeId, random).filter((id) => id > activeId === sellX && random.chance(0.6));
  const orders = ids.slice(0, MOST_ORDERS).map((id) => ({ id, amount: depth(random) / 20n + 1n }));
  if (orders.length > 0) placeLimitOrders(bench, sellX, orders);
}
