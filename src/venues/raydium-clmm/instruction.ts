import type { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";
import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { DESTINATION, furtherAccounts, ownAccountsWith, SOURCE, WALLET } from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { CLMM_PROGRAM, type ClmmMarket } from "./layout.ts";

/** A variant is the number of the mint that goes in, and says whether the input is exact. */
const EXACT_IN = 2;

const dataOf = (discriminator: string) => (variant: number) => {
  const data = hex(discriminator.padEnd(82, "0"));
  data[40] = (variant & EXACT_IN) === 0 ? 0 : 1;
  return data;
};

const start = ({ address, config, vaults, observation }: ClmmMarket, from: number) => [
  WALLET,
  config,
  address,
  SOURCE,
  DESTINATION,
  vaults[from]!,
  vaults[1 - from]!,
  observation,
  TOKEN_PROGRAM,
];

/** All that follow the fixed accounts are written to. */
const SWAP_V2 = new InstructionPattern<ClmmMarket>({
  program: CLMM_PROGRAM,
  rights: "R rw ww ww w rrr rr w",
  accounts: (market, variant, own) => {
    const from = variant & 1;
    const { mints } = market;
    const named = [TOKEN_2022_PROGRAM, MEMO_PROGRAM, mints[from]!, mints[1 - from]!];
    return [...start(market, from), ...named, ...furtherAccounts(own)];
  },
  data: dataOf("2b04ed0b1ac91e62"),
  amountsAt: 8,
  amounts: 2,
});

/** The older instruction, which knows the SPL Token program alone. */
const SWAP = new InstructionPattern<ClmmMarket>({
  program: CLMM_PROGRAM,
  rights: "R rw ww ww w r w",
  accounts: (market, variant, own) => [...start(market, variant & 1), ...furtherAccounts(own)],
  data: dataOf("f8c69e91e17587c8"),
  amountsAt: 8,
  amounts: 2,
});

interface ClmmSwap {
  readonly market: ClmmMarket;
  /** The bitmap's extension where it is needed, then the tick arrays in the direction of the swap. */
  readonly trail: readonly Address[];
  readonly zeroForOne: boolean;
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True for `swap`, which makes the same trade of two SPL Token mints and names four accounts fewer. */
  readonly isOlder: boolean;
}

/**
 * The `swap_v2` instruction, without a price limit. exactIn: `amount` goes in, at least the threshold comes out. exactOut:
 * `amount` comes out, at most the threshold goes in. Amounts are the wallet's side.
 *
 * @see raydium-clmm `instructions/swap_v2.rs`, `instructions/swap.rs`
 */
export function clmmSwap(swap: ClmmSwap, terms: SwapTerms) {
  const { market, trail, zeroForOne, mode, amount, isOlder } = swap;
  const variant = (zeroForOne ? 0 : 1) + (mode === "exactIn" ? EXACT_IN : 0);
  const own = ownAccountsWith(terms, isOlder ? arrayFirst(trail, market) : trail);
  return new FilledInstruction(isOlder ? SWAP : SWAP_V2, market, variant, own, amount, terms.threshold);
}

/** With the first array before the bitmap's extension: the older instruction has it among its fixed accounts. */
function arrayFirst(trail: readonly Address[], { extension }: ClmmMarket): readonly Address[] {
  const [first, ...others] = trail;
  return first === extension.address ? [others[0]!, first, ...others.slice(1)] : trail;
}
