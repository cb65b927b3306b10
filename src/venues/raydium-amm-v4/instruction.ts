import { FilledInstruction, InstructionPattern } from "../../solana/instruction.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { DESTINATION, ownAccounts, SOURCE, WALLET } from "../swap-pattern.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { AMM_V4_AUTHORITY, AMM_V4_PROGRAM, type AmmV4Market } from "./layout.ts";

/** @param tag of its data, which has two amounts beside it */
const pattern = (tag: number) =>
  new InstructionPattern<AmmV4Market>({
    program: AMM_V4_PROGRAM,
    rights: "r w r ww ww R",
    accounts: ({ address, vaults }) => [
      TOKEN_PROGRAM,
      address,
      AMM_V4_AUTHORITY,
      vaults[0],
      vaults[1],
      SOURCE,
      DESTINATION,
      WALLET,
    ],
    data: () => new Uint8Array(17).fill(tag, 0, 1),
    amountsAt: 1,
    amounts: 2,
  });

const SWAP_BASE_IN_V2 = pattern(16);
const SWAP_BASE_OUT_V2 = pattern(17);

/**
 * The swap instruction, without an order book. exactIn: `amount` goes in, at least the threshold comes out. exactOut:
 * `amount` comes out, at most the threshold goes in. The token accounts determine the direction.
 *
 * @see raydium-amm `instruction.rs`, SwapBaseInV2 and SwapBaseOutV2
 */
export function ammV4Swap(market: AmmV4Market, mode: SwapMode, amount: bigint, terms: SwapTerms) {
  const { threshold } = terms;
  const own = ownAccounts(terms);
  return mode === "exactIn"
    ? new FilledInstruction(SWAP_BASE_IN_V2, market, 0, own, amount, threshold)
    : new FilledInstruction(SWAP_BASE_OUT_V2, market, 0, own, threshold, amount);
}
