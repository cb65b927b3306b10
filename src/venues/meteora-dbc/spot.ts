import { mostKept } from "../curves/least-fee.ts";
import { priceBound, type SpotBounds } from "../spot-bound.ts";
import type { DbcConfig, DbcMarket, DbcPool } from "./layout.ts";

/** What the bound takes from a state. */
interface Bounded {
  readonly config: DbcConfig;
  readonly pool: DbcPool;
}

const TWO_64 = 2 ** 64;

export const dbcSpot: SpotBounds<DbcMarket, Bounded> = {
  reads: () => [],
  of({ config, pool }) {
    const root = Number(pool.sqrtPrice) / TWO_64;
    return priceBound(root * root, mostKept(config.baseFee, config.feeCap));
  },
};
