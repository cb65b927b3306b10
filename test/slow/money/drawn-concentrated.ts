import { viewOf } from "../../../src/primitives/bytes.ts";
import { clmmSqrtPrice } from "../../../src/venues/raydium-clmm/ticks/tick-price.ts";
import { addLiquidity as addBins, createDlmmPair, STRATEGIES } from "../venues/support/meteora-dlmm.ts";
import { addLiquidity, createWhirlpool } from "../venues/support/orca-whirlpool.ts";
import { addClmmLiquidity, createClmmPool, writeClmmConfig } from "../venues/support/raydium-clmm.ts";
import { type Draw, depth, ONE, type Place, provided } from "./market-draw.ts";

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
  return { venue: "raydium_clmm", address: pool.address, mints };
}

const TICK_OFFSET = 81;

export function drawWhirlpool(draw: Draw): Place {
  const { svm, random, mints, insider } = draw;
  const tickSpacing = random.pick([1, 8, 64, 128]);
  const wallet = provided(draw);
  const sqrtPrice = random.pick([ONE, ONE * 7n, ONE / 9n]);
  const feeRate = random.pick([0, 100, 2_500, 30_000, 60_000]);
  const pool = createWhirlpool(svm, { creator: insider, mints, tickSpacing, feeRate, sqrtPrice });
  const tick = viewOf(svm.get(pool.address)!.data).getInt32(TICK_OFFSET, true);
  const center = Math.round(tick / tickSpacing) * tickSpacing;
  for (const reach of [2, 30, 300])
    if (reach === 30 || random.chance(0.7))
      addLiquidity(svm, wallet, pool, center - reach * tickSpacing, center + reach * tickSpacing, depth(random));
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

export function drawDlmm(draw: Draw): Place {
  const { svm, random, mints } = draw;
  const activeId = random.pick([0, 0, 137, -933]);
  const bench = createDlmmPair(svm, provided(draw), ...mints, {
    ...random.pick([CALM, LIVELY]),
    binStep: random.pick([1, 5, 25, 100, 400]),
    baseFactor: random.pick([10_000, 10_000, 1, 60_000]),
    limitOrders: random.chance(0.3),
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
  return { venue: "meteora_dlmm", address: bench.pair, mints };
}
