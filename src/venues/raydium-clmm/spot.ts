import { numberI32, numberQ64, priceBound, type SpotBounds } from "../spot-bound.ts";
import { type ClmmMarket, clmmArrayStart } from "./layout.ts";
import type { ClmmState } from "./state.ts";

/** The fee comes from the state, without the part that follows volatility, the price from the pool's account. */
export const clmmSpot: SpotBounds<ClmmMarket, ClmmState> = {
  reads: ({ market }) => [market.address],
  of({ market, curve }, [account]) {
    const { data } = account!;
    const { tickSpacing } = market;
    if (clmmArrayStart(numberI32(data, 269), tickSpacing) !== clmmArrayStart(curve.tick, tickSpacing)) return undefined;
    const root = numberQ64(data, 253);
    return priceBound(root * root, 1 - Number(curve.feeRate) / 1e6);
  },
  follows: {
    // The configuration, the spacing, and the bitmap of arrays with ticks.
    fixed: [
      [0, 41],
      [235, 237],
      [904, 1_032],
    ],
    accounts: ({ config, extension, mints }) => [config, extension.address, ...mints],
  },
};
