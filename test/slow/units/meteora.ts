import { decodeMint } from "../../../src/solana/token/mint.ts";
import { DAMM_V1_PROGRAM, VAULT_PROGRAM } from "../../../src/venues/meteora-damm-v1/layout.ts";
import { meteoraDammV1 } from "../../../src/venues/meteora-damm-v1/venue.ts";
import { DAMM_V2_PROGRAM } from "../../../src/venues/meteora-damm-v2/layout.ts";
import { meteoraDammV2 } from "../../../src/venues/meteora-damm-v2/venue.ts";
import { DLMM_PROGRAM } from "../../../src/venues/meteora-dlmm/layout.ts";
import { meteoraDlmm } from "../../../src/venues/meteora-dlmm/venue.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { buildsOf } from "../venues/support/builds.ts";
import { createDammV1Pool, METAPLEX_PROGRAM, reportProfit } from "../venues/support/meteora-damm-v1.ts";
import {
  createDammV2Pool,
  limiterFee,
  MAX_SQRT_PRICE,
  MIN_SQRT_PRICE,
  marketCapFee,
  timeFee,
} from "../venues/support/meteora-damm-v2.ts";
import {
  addLiquidity,
  createDlmmPair,
  emptyBins,
  placeLimitOrders,
  STRATEGIES,
} from "../venues/support/meteora-dlmm.ts";
import { newKey } from "../venues/support/random-keys.ts";
import { buildsBeside, drawChain, drawMint, fund, HELD, install, type Searched } from "./stage.ts";

const BINS_A_POSITION = 50;
const MOST_ORDERS = 45;

export const dlmm: Searched = {
  name: "meteora_dlmm",
  builds: buildsOf("meteora_dlmm"),
  open(genes, { path }) {
    const chain = drawChain(genes);
    const { svm, wallet } = chain;
    install(svm, DLMM_PROGRAM, ".venues/meteora_dlmm.so");
    const mints = [drawMint(chain, genes), drawMint(chain, genes)] as const;
    const give = () => fund(svm, wallet, mints);
    give();
    const limitOrders = genes.chance(0.5);
    const binStep = genes.pick([1, 2, 5, 10, 25, 50, 100, 400]);
    const span = Math.floor((Math.log(2 ** 60) / Math.log(1 + binStep / 1e4)) * 0.6);
    const activeId = genes.between(-Math.min(span, 200_000), Math.min(span, 200_000));
    const reach = genes.pick([3, 10, 35, 70, 150]);
    const bench = createDlmmPair(svm, wallet, ...mints, {
      binStep,
      baseFactor: Math.min(60_000, Math.floor(250_000 / binStep) + 1),
      variableFeeControl: genes.pick([0, 7_500, 120_000]),
      maxVolatility: 350_000,
      filterPeriod: 30,
      decayPeriod: 600,
      reductionFactor: 5_000,
      limitOrders,
      collectFeeMode: genes.pick([0, 1]),
      activeId,
    });
    const amount = genes.magnitude(1n << 52n) + 1_000n;
    const strategies = Object.values(STRATEGIES);
    for (let low = activeId - reach; low <= activeId + reach; low += BINS_A_POSITION) {
      const high = Math.min(low + BINS_A_POSITION - 1, activeId + reach);
      give();
      addLiquidity(bench, high >= activeId ? amount : 0n, low <= activeId ? amount : 0n, {
        low,
        high,
        activeId,
        strategy: genes.pick(strategies),
      });
    }
    const gaps = genes.pick([0, 0, 0.1, 0.5, 0.9, 0.97]);
    const ids = Array.from({ length: 2 * reach + 1 }, (_, index) => activeId - reach + index);
    const spared = genes.chance(0.7);
    emptyBins(
      bench,
      ids.filter((id) => (id !== activeId || !spared) && chain.random.chance(gaps)),
    );
    const orders = limitOrders ? genes.pick([0, 5, MOST_ORDERS]) : 0;
    const size = genes.magnitude(amount);
    if (orders > 0)
      for (const sign of [1, -1] as const) {
        give();
        placeLimitOrders(
          bench,
          sign === 1,
          Array.from({ length: orders }, (_, index) => ({
            id: activeId + sign * (index + 1),
            amount: chain.random.magnitude(size),
          })).sort((a, b) => a.id - b.id),
        );
      }
    install(svm, DLMM_PROGRAM, path);
    return { svm, venue: meteoraDlmm as Venue, market: bench.pair, wallet, fund: give, most: () => 1n << 56n };
  },
};

/** The first copy of `meteora_damm_v2` that keeps a layout version, and where: pools of earlier ones have none. */
const LAYOUT_SINCE = ".venues/builds/meteora_damm_v2/20260301";
const LAYOUT_VERSION = 696;

export const dammV2: Searched = {
  name: "meteora_damm_v2",
  builds: buildsOf("meteora_damm_v2"),
  open(genes, { path, isMain }) {
    const chain = drawChain(genes);
    const { svm, wallet } = chain;
    install(svm, DAMM_V2_PROGRAM, ".venues/meteora_damm_v2.so");
    const mints = [drawMint(chain, genes), drawMint(chain, genes)] as const;
    const give = () => fund(svm, wallet, mints, 1n << 62n);
    give();
    const sqrtPrice = BigInt(Math.floor(2 ** (34 + genes.next() * 60)));
    const width = genes.pick([0n, 0n, 2n, 10n, 1_000n]);
    const min = width === 0n ? MIN_SQRT_PRICE : sqrtPrice - sqrtPrice / (width * 2n);
    const max = width === 0n ? MAX_SQRT_PRICE : sqrtPrice + sqrtPrice / width;
    const byA = ((1n << 60n) * sqrtPrice * max) / (max - sqrtPrice);
    const byB = ((1n << 60n) << 128n) / (sqrtPrice - min);
    const top = [byA, byB, 1n << 126n].reduce((a, b) => (a < b ? a : b));
    const baseFee = genes.pick([
      () => timeFee(2_500_000n, 0, 0n, 0n, false),
      () => timeFee(500_000_000n, 100, 60n, 4_900_000n, false),
      () => timeFee(900_000_000n, 120, 30n, BigInt(genes.pick([1, 250, 5_000])), true),
      () =>
        limiterFee(
          genes.pick([1_000_000n, 10_000_000n, 100_000_000n]),
          genes.pick([1, 3, 100, 5_000]),
          40_000,
          genes.pick([5_000, 9_900]),
          genes.magnitude(1n << 55n),
        ),
      () => marketCapFee(300_000_000n, 50, 100, 86_400, 5_000_000n, false),
      () =>
        marketCapFee(
          400_000_000n,
          genes.pick([20, 80, 500]),
          genes.pick([1, 50, 1_000]),
          86_400,
          genes.pick([100n, 300n]),
          true,
        ),
    ])();
    const collectFeeMode = genes.pick([0, 1]);
    const market = createDammV2Pool(svm, wallet, {
      mintA: mints[0],
      mintB: mints[1],
      baseFee,
      volatility: genes.chance(0.5),
      countsSeconds: true,
      collectFeeMode,
      sqrtPrice,
      liquidity: genes.magnitude(top),
      minSqrtPrice: min,
      maxSqrtPrice: max,
    });
    install(svm, DAMM_V2_PROGRAM, path);
    if ((!isMain && path < LAYOUT_SINCE) || genes.chance(0.25)) {
      const account = svm.get(market)!;
      account.data[LAYOUT_VERSION] = 0;
      svm.setAccount(account);
    }
    const seconds = BigInt(genes.between(0, 4_000));
    const { slot, epoch, unixTimestamp } = svm.clock();
    svm.setClock({ slot: slot + seconds * 2n, epoch, unixTimestamp: unixTimestamp + seconds });
    return { svm, venue: meteoraDammV2 as Venue, market, wallet, fund: give, most: () => HELD };
  },
};

const VAULTS = ".venues/meteora_dynamic_vault.so";
const METAPLEX = ".venues/metaplex_token_metadata.so";

export const dammV1: Searched = {
  name: "meteora_damm_v1",
  builds: buildsBeside(METAPLEX, buildsBeside(VAULTS, buildsOf("meteora_damm_v1"))),
  open(genes, { path }) {
    const { svm, random, wallet } = drawChain(genes);
    install(svm, DAMM_V1_PROGRAM, ".venues/meteora_damm_v1.so");
    install(svm, VAULT_PROGRAM, VAULTS);
    install(svm, METAPLEX_PROGRAM, METAPLEX);
    const spl = () => svm.newMint({ decimals: genes.pick([6, 9]), supply: HELD, address: newKey(random) });
    const [mintA, mintB] = [spl(), spl()];
    const give = () => fund(svm, wallet, [mintA, mintB]);
    give();
    const [amountA, amountB] = [genes.magnitude(1n << 58n) + 1_000n, genes.magnitude(1n << 58n) + 1_000n];
    const isStable = genes.chance(0.5);
    const [decimalsA, decimalsB] = [mintA, mintB].map((mint) => decodeMint(svm.get(mint)!).decimals) as [
      number,
      number,
    ];
    const precision = Math.max(decimalsA, decimalsB);
    const multipliers = [10n ** BigInt(precision - decimalsA), 10n ** BigInt(precision - decimalsB)] as const;
    const market = createDammV1Pool(svm, wallet, {
      mintA,
      mintB,
      amountA,
      amountB,
      fee: isStable ? { tierBps: genes.pick([1n, 10n]) } : genes.pick([{ tierBps: 25n }, { numerator: 1_500 }]),
      ...(isStable ? { stable: { amplification: 100n, multipliers, precision } } : {}),
    });
    const profits = genes.pick([0, 0, 1, 2]);
    const now = svm.clock().unixTimestamp;
    if (profits > 0) reportProfit(svm, mintA, amountA / BigInt(genes.pick([3, 1_000])), 46_296_296n, now);
    if (profits > 1) reportProfit(svm, mintB, amountB / BigInt(genes.pick([3, 1_000])), 11_574_074n, now - 900n);
    install(svm, DAMM_V1_PROGRAM, path);
    return { svm, venue: meteoraDammV1 as Venue, market, wallet, fund: give, most: () => 1n << 58n };
  },
};
