import { mostKept } from "../curves/least-fee.ts";
import { NOTHING, numberQ64, numberU64, productBound, type SpotBounds } from "../spot-bound.ts";
import type { DammV2Market, DammV2Pool } from "./layout.ts";

/** What the bound takes from a state. */
interface Bounded {
  readonly market: DammV2Market;
  readonly pool: DammV2Pool;
}

/** The base fee and the kind of curve come from the state, price, liquidity and reserves from the pool's account. */
export const dammV2Spot: SpotBounds<DammV2Market, Bounded> = {
  reads: ({ market }) => [market.address],
  of({ pool }, [account]) {
    const { data } = account!;
    const kept = mostKept(pool.baseFee, pool.feeCap);
    if (pool.compounding) {
      const fees = { in0: kept, out0: 1, in1: kept, out1: 1 };
      return productBound(numberU64(data, 680), numberU64(data, 688), fees);
    }
    const price = numberQ64(data, 456);
    const liquidity = numberQ64(data, 360);
    if (!(price > 0 && liquidity > 0)) return NOTHING;
    // One range of constant liquidity is a constant product of L / price and L · price. A fee on the output curbs a little more.
    const fees = { in0: kept, out0: 1, in1: kept, out1: 1 };
    return productBound(liquidity / price, liquidity * price, fees);
  },
  follows: {
    fixed: [
      [0, 40],
      [484, 487],
    ],
    accounts: ({ mints }) => mints,
  },
};
