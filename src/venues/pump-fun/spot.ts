import { readU64 } from "../../primitives/bytes.ts";
import { pumpSpot } from "../shared/pump-spot.ts";
import type { SpotBounds } from "../spot-bound.ts";
import { PUMP_FEE_CONFIG, PUMP_GLOBAL, type PumpFunMarket } from "./layout.ts";
import type { PumpFunState } from "./state.ts";

/** The schedule of fees comes from the state, reserves from the curve's account: fees follow from both. */
export const pumpFunSpot: SpotBounds<PumpFunMarket, PumpFunState> = {
  reads: ({ market }) => [market.address],
  of({ feesAt }, [curve]) {
    const tokens = readU64(curve!.data, 8);
    const quote = readU64(curve!.data, 16);
    const fees = feesAt(tokens, quote);
    return fees === undefined ? undefined : pumpSpot({ tokens, quote, fees });
  },
  takesLess: true,
  follows: {
    // Between them lies what the curve really holds.
    fixed: [
      [0, 8],
      [40, 123],
    ],
    accounts: ({ mints }) => [PUMP_GLOBAL, PUMP_FEE_CONFIG, ...mints],
  },
};
