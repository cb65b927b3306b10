import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { DESTINATION, ownAccounts, SOURCE, WALLET } from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { CPMM_AUTHORITY, CPMM_PROGRAM, type CpmmMarket } from "./layout.ts";

/** Its variants are the numbers of the mint that goes in. @param discriminator of its data, which has two amounts beside it */
const pattern = (discriminator: string) =>
  new InstructionPattern<CpmmMarket>({
    program: CPMM_PROGRAM,
    rights: "R rrw ww ww rr rr w",
    accounts: ({ address, config, vaults, tokenPrograms, mints, observation }, from) => {
      const to = 1 - from;
      return [
        WALLET,
        CPMM_AUTHORITY,
        config,
        address,
        SOURCE,
        DESTINATION,
        vaults[from]!,
        vaults[to]!,
        tokenPrograms[from]!,
        tokenPrograms[to]!,
        mints[from]!,
        mints[to]!,
        observation,
      ];
    },
    data: () => hex(discriminator.padEnd(48, "0")),
    amountsAt: 8,
    amounts: 2,
  });

const SWAP_BASE_INPUT = pattern("8fbe5adac41e33de");
const SWAP_BASE_OUTPUT = pattern("37d96256a34ab4ad");

interface CpmmSwap {
  readonly market: CpmmMarket;
  readonly zeroForOne: boolean;
  readonly mode: SwapMode;
  readonly amount: bigint;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in. Amounts are the wallet's side.
 *
 * @see raydium-cp-swap `instructions/swap_base_input.rs`, `swap_base_output.rs`
 */
export function cpmmSwap({ market, zeroForOne, mode, amount }: CpmmSwap, terms: SwapTerms) {
  const from = zeroForOne ? 0 : 1;
  const { threshold } = terms;
  const own = ownAccounts(terms);
  return mode === "exactIn"
    ? new FilledInstruction(SWAP_BASE_INPUT, market, from, own, amount, threshold)
    : new FilledInstruction(SWAP_BASE_OUTPUT, market, from, own, threshold, amount);
}
