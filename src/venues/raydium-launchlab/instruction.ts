import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import {
  DESTINATION,
  FIRST_OTHER,
  ownAccounts,
  SOURCE,
  tokenProgramsOf,
  tokenProgramsVariant,
  WALLET,
} from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { LAUNCHLAB_AUTHORITY, LAUNCHLAB_EVENT_AUTHORITY, LAUNCHLAB_PROGRAM, type LaunchlabMarket } from "./layout.ts";

/** Beside the token programs, a variant says whether it buys. */
const BUYS = FIRST_OTHER;

/** @param discriminator of its data, which has two amounts and a third of zero beside it */
const pattern = (discriminator: string) =>
  new InstructionPattern<LaunchlabMarket>({
    program: LAUNCHLAB_PROGRAM,
    rights: "W r rr w ww ww rr rr rr r ww",
    accounts: ({ address, config, platform, vaults, mints, platformFeeVault, creatorFeeVault }, variant) => {
      const buying = (variant & BUYS) !== 0;
      return [
        WALLET,
        LAUNCHLAB_AUTHORITY,
        config,
        platform,
        address,
        buying ? DESTINATION : SOURCE,
        buying ? SOURCE : DESTINATION,
        vaults[0],
        vaults[1],
        mints[0],
        mints[1],
        ...tokenProgramsOf(variant),
        LAUNCHLAB_EVENT_AUTHORITY,
        LAUNCHLAB_PROGRAM,
        SYSTEM_PROGRAM,
        platformFeeVault,
        creatorFeeVault,
      ];
    },
    data: () => hex(discriminator.padEnd(64, "0")),
    amountsAt: 8,
    amounts: 2,
  });

const BUY_EXACT_IN = pattern("faea0d7bd59c13ec");
const BUY_EXACT_OUT = pattern("18d3742869039938");
const SELL_EXACT_IN = pattern("9527de9bd37c981a");
const SELL_EXACT_OUT = pattern("5fc8472208090ba6");

interface LaunchlabTrade {
  readonly market: LaunchlabMarket;
  readonly tokenPrograms: readonly [Address, Address];
  readonly buying: boolean;
  readonly mode: SwapMode;
  readonly amount: bigint;
}

/**
 * The trade instruction. All four forms take the same accounts and arguments: the exact amount, the bound on the other amount,
 * and the share of a referrer, which is 0 here. Amounts are the wallet's side.
 *
 * @see https://docs.raydium.io/products/launchlab/instructions
 */
export function launchlabTrade(trade: LaunchlabTrade, terms: SwapTerms) {
  const { market, tokenPrograms, buying, mode, amount } = trade;
  const exactIn = mode === "exactIn";
  const chosen = buying ? (exactIn ? BUY_EXACT_IN : BUY_EXACT_OUT) : exactIn ? SELL_EXACT_IN : SELL_EXACT_OUT;
  const variant = tokenProgramsVariant(tokenPrograms[0], tokenPrograms[1]) + (buying ? BUYS : 0);
  return new FilledInstruction(chosen, market, variant, ownAccounts(terms), amount, terms.threshold);
}
