import { rangeBound } from "../curves/range-spot.ts";
import { numberI32, numberQ64, numberU128, type SpotBounds } from "../spot-bound.ts";
import { type ClmmMarket, clmmArrayStart } from "./layout.ts";
import type { ClmmState } from "./state.ts";

/**
 * The fee comes from the state, without the part that follows volatility, price, liquidity and the side of the fee from the pool's
 * account.
 */
export const clmmSpot: SpotBounds<ClmmMarket, ClmmState> = {
  reads: ({ market }) => [market.address],
  of({ market, curve }, [account]) {
    const { data } = account!;
    const { tickSpacing } = market;
    const tick = numberI32(data, 269);
    if (clmmArrayStart(tick, tickSpacing) !== clmmArrayStart(curve.tick, tickSpacing)) return undefined;
    // Who pays the fee: 0 the input, 1 always token 0, 2 always token 1.
    const feeOn = data[390];
    return rangeBound({
      root: numberQ64(data, 253),
      liquidity: numberU128(data, 237),
      tick,
      tickSpacing,
      kept: 1 - Number(curve.feeRate) / 1e6,
      isOnInput: [feeOn === 0 || feeOn === 1, feeOn !== 1],
    });
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
