import { readI128 } from "../../primitives/bytes.ts";
import { tokenBalance } from "../../solana/token/token-account.ts";
import { pumpSpot } from "../shared/pump-spot.ts";
import type { SpotBounds } from "../spot-bound.ts";
import { PUMP_SWAP_FEE_CONFIG, PUMP_SWAP_GLOBAL, type PumpSwapMarket } from "./layout.ts";
import type { PumpSwapState } from "./state.ts";

/** Bytes of a pool account with the virtual quote, which is added to the quote reserve for pricing. */
const VIRTUAL_QUOTE_OFFSET = 245;
const VIRTUAL_QUOTE_END = 261;
/** Bytes of a token account up to the end of its amount. */
const AMOUNT_END = 72;

/** The schedule of fees comes from the state, reserves from the accounts: fees follow from both. */
export const pumpSwapSpot: SpotBounds<PumpSwapMarket, PumpSwapState> = {
  reads: ({ market: { address, vaults } }) => [address, ...vaults],
  of({ feesAt }, [pool, base, vault]) {
    const { data } = pool!;
    if (base!.data.length < AMOUNT_END || vault!.data.length < AMOUNT_END) return undefined;
    const tokens = tokenBalance(base!);
    const added = data.length >= VIRTUAL_QUOTE_END ? readI128(data, VIRTUAL_QUOTE_OFFSET) : 0n;
    const quote = tokenBalance(vault!) + added;
    const fees = feesAt(tokens, quote);
    return fees === undefined ? undefined : pumpSpot({ tokens, quote, fees });
  },
  takesLess: true,
  follows: {
    // Between them lies the supply of shares; what is owed of fees follows.
    fixed: [
      [0, 8],
      [211, 245],
      [261, 269],
    ],
    accounts: ({ mints }) => [PUMP_SWAP_GLOBAL, PUMP_SWAP_FEE_CONFIG, ...mints],
  },
};
