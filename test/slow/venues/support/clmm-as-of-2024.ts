import { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import type { Address } from "../../../../src/primitives/address.ts";
import { amountBeforeFee, transferFeeAt, transferFeeOn } from "../../../../src/solana/token/transfer-fee.ts";
import type { ClmmState } from "../../../../src/venues/raydium-clmm/state.ts";
import { raydiumClmm } from "../../../../src/venues/raydium-clmm/venue.ts";
import type { Ask } from "../../../../src/venues/venue.ts";

/**
 * The venue without what the program of November 2024 refuses and later ones take: exact out of a token with a transfer
 * fee, and exact in of an amount that the token's inverse fee does not give back.
 */
export const clmmAsOf2024: typeof raydiumClmm = {
  ...raydiumClmm,
  quote(state, ask) {
    refuseAsOf2024(state, ask);
    return raydiumClmm.quote(state, ask);
  },
  replay(state, signed, ask, bound) {
    refuseAsOf2024(state, ask);
    return raydiumClmm.replay!(state, signed, ask, bound);
  },
};

function refuseAsOf2024(state: ClmmState, ask: Ask): void {
  if (isRefusedAsOf2024(state, ask)) throw new TradewireError("NO_ROUTE", "not taken by the program of November 2024");
}

/** True if the program of November 2024 refuses a trade that later ones take. */
export function isRefusedAsOf2024(asked: unknown, ask: Ask): boolean {
  const state = asked as ClmmState;
  const feeOf = (mint: Address) => {
    const { transferFees } = state.mints[state.market.mints[0] === mint ? 0 : 1];
    return transferFees && transferFeeAt(transferFees, ask.clock.epoch);
  };
  const feeIn = feeOf(ask.inMint);
  return ask.mode === "exactOut"
    ? transferFeeOn(amountBeforeFee(ask.amount, feeOf(ask.outMint)), feeOf(ask.outMint)) > 0n
    : amountBeforeFee(ask.amount - transferFeeOn(ask.amount, feeIn), feeIn) !== ask.amount;
}
