import { MAX_TICK } from "../../../src/venues/curves/concentrated-liquidity.ts";
import { WHIRLPOOL_PROGRAM } from "../../../src/venues/orca-whirlpool/layout.ts";
import { whirlpoolSqrtPrice } from "../../../src/venues/orca-whirlpool/tick-price.ts";
import { orcaWhirlpool } from "../../../src/venues/orca-whirlpool/venue.ts";
import type { Venue } from "../../../src/venues/venue.ts";
import { allBuildsOf, buildsOf } from "../venues/support/builds.ts";
import { addLiquidity, createWhirlpool } from "../venues/support/orca-whirlpool.ts";
import { drawChain, drawMint, fund, install, type Searched } from "./stage.ts";
import { drawTick, spreadPositions } from "./ticks.ts";

const dateOf = (path: string): number => Number(/(\d{8})-/.exec(path)?.[1] ?? 0);
/** Builds that first knew fees that follow volatility, and tick arrays as small as their ticks. */
const ADAPTIVE_SINCE = 20250505;
const DYNAMIC_SINCE = 20250705;
const NEWEST = allBuildsOf("orca_whirlpool").reduce((a, b) => (dateOf(b.path) > dateOf(a.path) ? b : a), {
  path: ".venues/orca_whirlpool.so",
});

export const whirlpool: Searched = {
  name: "orca_whirlpool",
  builds: buildsOf("orca_whirlpool"),
  open(genes, { path }) {
    const chain = drawChain(genes);
    const { svm, wallet } = chain;
    const built = dateOf(path);
    const adaptive = genes.chance(0.5) && built >= ADAPTIVE_SINCE;
    const isDynamic = genes.chance(0.3) && built >= DYNAMIC_SINCE;
    install(svm, WHIRLPOOL_PROGRAM, adaptive || isDynamic ? NEWEST.path : ".venues/orca_whirlpool.so");
    const tickSpacing = genes.pick([1, 1, 1, 2, 8, 64, 128]);
    const mints = [drawMint(chain, genes), drawMint(chain, genes)] as const;
    const creator = svm.newWallet(1n << 55n);
    fund(svm, creator, mints, 1n << 62n);
    const tick = drawTick(genes);
    const fee = {
      filterPeriod: 30,
      decayPeriod: 600,
      reductionFactor: 5_000,
      controlFactor: genes.pick([4_000, 99_999, 100]),
      maximumVolatility: genes.pick([350_000, 10_000, 50_000]),
      groupSize: genes.chance(0.5) ? 1 : tickSpacing,
      majorSwapTicks: tickSpacing,
    };
    const pool = createWhirlpool(svm, {
      creator,
      mints,
      tickSpacing,
      feeRate: genes.pick([0, 100, 30_000]),
      sqrtPrice: whirlpoolSqrtPrice(tick) + 1n,
      rewards: genes.pick([0, 0, 0, 1, 3]),
      ...(adaptive ? { adaptive: fee } : {}),
    });
    spreadPositions(
      genes,
      tick,
      tickSpacing,
      Math.floor(MAX_TICK / tickSpacing) * tickSpacing,
      (low, high, liquidity) => addLiquidity(svm, creator, pool, low, high, liquidity, isDynamic),
    );
    install(svm, WHIRLPOOL_PROGRAM, path);
    const seconds = BigInt(genes.pick([0, 5, 60, 1_000]));
    const { slot, epoch, unixTimestamp } = svm.clock();
    svm.setClock({ slot: slot + seconds * 2n, epoch, unixTimestamp: unixTimestamp + seconds });
    return {
      svm,
      venue: orcaWhirlpool as Venue,
      market: pool.address,
      wallet,
      fund: () => fund(svm, wallet, mints, 1n << 62n),
      most: (mint) => svm.tokens(pool.vaults[pool.mints[0] === mint ? 0 : 1]) + 4n,
    };
  },
};
