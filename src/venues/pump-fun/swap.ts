import type { Address } from "../../primitives/address.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
import { BUMP_STEP_UNITS, USER_VOLUME_SIZE } from "../shared/pump-costs.ts";
import type { Quote, SwapLeg, SwapTerms } from "../venue.ts";
import { type PumpInstruction, pumpFunSwap } from "./instruction.ts";
import { olderPumpSwap } from "./older-instruction.ts";
import type { PumpFunState } from "./state.ts";
import {
  COMPLETION_UNITS,
  GROWTH_UNITS,
  OLDER_CASHBACK_CREATION_UNITS,
  OLDER_CASHBACK_UNITS,
  VAULT_CREATION_UNITS,
  VOLUME_CREATION_UNITS,
} from "./units.ts";

/** The instruction, its first argument and, for inverse sells, the least output it accepts instead of the threshold. */
export interface PumpFunFill {
  readonly instruction: PumpInstruction;
  readonly amount: bigint;
  readonly askedOut: bigint;
  /** True if it takes the last token of the curve. */
  readonly completes?: boolean;
  /** True to make the trade by the program's older instruction, which names fewer accounts. */
  readonly isOlder?: boolean;
}

/**
 * The same trade by an older instruction, if the coin is priced in SOL: those know no other. The older sale of a coin with cashback
 * looks for its further accounts at other places if it pays none.
 */
export function older(
  { market, curve, side }: PumpFunState,
  quote: Quote<PumpFunFill>,
): Quote<PumpFunFill> | undefined {
  if (!market.nativeSol || quote.fill.isOlder === true) return undefined;
  if (quote.fill.instruction === "sell" && curve.cashback && side.fees.creator === 0n) return undefined;
  return { ...quote, fill: { ...quote.fill, isOlder: true } };
}

/** The instruction of a quote, its bound of compute units and what it creates. */
export function swap(state: PumpFunState, { mode, fill }: Quote<PumpFunFill>, terms: SwapTerms): SwapLeg {
  const inverseSale = fill.instruction === "sell" && mode === "exactOut";
  const amount = inverseSale && terms.threshold < fill.amount ? terms.threshold : fill.amount;
  const bound = inverseSale ? fill.askedOut : terms.threshold;
  const leg =
    fill.isOlder === true
      ? olderSwap(state, fill, amount, bound, terms)
      : newestSwap(state, fill, amount, bound, terms);
  const { market, size, fullSize, rentHeld } = state;
  if (size >= fullSize) return leg;
  const growth = { address: market.address, from: size, to: fullSize, held: rentHeld };
  return { ...leg, computeUnits: leg.computeUnits + GROWTH_UNITS, grows: [growth] };
}

function newestSwap(state: PumpFunState, fill: PumpFunFill, amount: bigint, bound: bigint, terms: SwapTerms): SwapLeg {
  const { accounts, market } = state;
  const call = pumpFunSwap(fill.instruction, accounts, amount, bound, terms);
  const { volume, volumeQuote } = call;
  const creations = creationsOf(state, volume, terms);
  let computeUnits =
    state.computeUnits[fill.instruction] +
    (fill.completes === true ? COMPLETION_UNITS : 0) +
    creations.computeUnits +
    BUMP_STEP_UNITS *
      (accounts.bumpSteps +
        call.bumpSteps +
        (255 - volume.bump) +
        (market.nativeSol ? 1 : 2) * (255 - volumeQuote.bump));
  const creates = [...creations.creates];
  if (!market.nativeSol) {
    for (const { address, bump } of [volumeQuote, accounts.vaultQuote]) {
      if (terms.exists(address)) continue;
      creates.push({ address, space: state.quoteAccountSize });
      computeUnits += state.quoteCreationUnits + 2 * BUMP_STEP_UNITS * (255 - bump);
    }
  }
  const spareUnits = BUMP_STEP_UNITS * (accounts.mostRecipientSteps - call.bumpSteps);
  return { instructions: [call.instruction], computeUnits, spareUnits, creates };
}

function olderSwap(state: PumpFunState, fill: PumpFunFill, amount: bigint, bound: bigint, terms: SwapTerms): SwapLeg {
  const { accounts, curve } = state;
  const isSale = fill.instruction === "sell";
  const namesVolume = !isSale || curve.cashback;
  const { instruction, volume } = olderPumpSwap(
    { kind: fill.instruction, accounts, amount, bound, namesVolume },
    terms,
  );
  const { creates, computeUnits } = creationsOf(state, volume, terms);
  const cashback = OLDER_CASHBACK_UNITS + (creates.length > 0 ? OLDER_CASHBACK_CREATION_UNITS : 0);
  return {
    instructions: [instruction],
    computeUnits:
      state.olderUnits[fill.instruction] +
      (fill.completes === true ? COMPLETION_UNITS : 0) +
      (isSale && curve.cashback ? cashback : 0) +
      computeUnits +
      BUMP_STEP_UNITS * (accounts.olderBumpSteps + (volume === undefined ? 0 : 255 - volume.bump)),
    creates,
  };
}

/**
 * Accounts that a trade creates if they are missing, with their compute units: the wallet's volume record, and the vault of a creator
 * whom it pays a fee.
 */
function creationsOf(
  { accounts, curve, side }: PumpFunState,
  volume: DerivedAddress | undefined,
  terms: SwapTerms,
): Pick<SwapLeg, "computeUnits" | "creates"> {
  const creates: { readonly address: Address; readonly space: number }[] = [];
  let computeUnits = 0;
  if (volume !== undefined && !terms.exists(volume.address)) {
    creates.push({ address: volume.address, space: USER_VOLUME_SIZE });
    computeUnits += VOLUME_CREATION_UNITS;
  }
  const { vault } = accounts;
  if (side.fees.creator > 0n && !curve.cashback && !terms.exists(vault.address, "system")) {
    creates.push({ address: vault.address, space: 0 });
    computeUnits += VAULT_CREATION_UNITS;
  }
  return { creates, computeUnits };
}
