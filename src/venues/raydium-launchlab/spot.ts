import { numberU64, priceBound, productBound, type SpotBounds } from "../spot-bound.ts";
import type { LaunchlabMarket } from "./layout.ts";
import type { LaunchCurve } from "./math.ts";

/** What the bound takes from a state. */
interface Bounded {
  readonly market: LaunchlabMarket;
  readonly curve: LaunchCurve;
}

/**
 * Fees and the curve come from the state, what was sold and raised from the pool's account. Curves whose price rises along a line
 * have no bound.
 */
export const launchlabSpot: SpotBounds<LaunchlabMarket, Bounded> = {
  reads: ({ market }) => [market.address],
  of({ curve }, [pool]) {
    const { data } = pool!;
    const kept = Math.max(0, 1 - Number(curve.feeRate) / 1e6);
    const [virtualBase, virtualQuote] = [Number(curve.virtualBase), Number(curve.virtualQuote)];
    switch (curve.type) {
      case 0: {
        const fees = { in0: 1, out0: kept, in1: kept, out1: 1 };
        return productBound(virtualBase - numberU64(data, 53), virtualQuote + numberU64(data, 61), fees);
      }
      case 1:
        return priceBound(virtualQuote / virtualBase, kept);
      case 2:
        return undefined;
    }
  },
  follows: {
    fixed: [
      [0, 29],
      [37, 53],
    ],
    accounts: ({ config, platform, mints }) => [config, platform, ...mints],
  },
};
