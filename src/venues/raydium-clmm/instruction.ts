import type { Address } from "../../primitives/address.ts";
import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { FlatInstruction, type Instruction, rightsOf } from "../../solana/instruction.ts";
import { MEMO_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { CLMM_PROGRAM, type ClmmMarket } from "./layout.ts";

const SWAP_V2 = hex("2b04ed0b1ac91e62");
/** The older instruction, which knows the SPL Token program alone. */
const SWAP = hex("f8c69e91e17587c8");
/** All that follow the fixed accounts are written to. */
const SWAP_V2_RIGHTS = rightsOf("R rw ww ww w rrr rr w");
const SWAP_RIGHTS = rightsOf("R rw ww ww w r w");

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
export function clmmSwap(swap: ClmmSwap, terms: SwapTerms): Instruction {
  const { market, trail, zeroForOne, mode, amount, isOlder } = swap;
  const from = zeroForOne ? 0 : 1;
  const to = zeroForOne ? 1 : 0;
  const data = pooledBytes(41);
  data.set(isOlder ? SWAP : SWAP_V2);
  writeU64(data, 8, amount);
  writeU64(data, 16, terms.threshold);
  data[40] = mode === "exactIn" ? 1 : 0;
  const start = [
    terms.wallet,
    market.config,
    market.address,
    terms.source,
    terms.destination,
    market.vaults[from],
    market.vaults[to],
    market.observation,
    TOKEN_PROGRAM,
  ];
  const accounts = isOlder
    ? [...start, ...arrayFirst(trail, market)]
    : [...start, TOKEN_2022_PROGRAM, MEMO_PROGRAM, market.mints[from], market.mints[to], ...trail];
  return new FlatInstruction(CLMM_PROGRAM, accounts, isOlder ? SWAP_RIGHTS : SWAP_V2_RIGHTS, data);
}

/** With the first array before the bitmap's extension: the older instruction has it among its fixed accounts. */
function arrayFirst(trail: readonly Address[], { extension }: ClmmMarket): readonly Address[] {
  const [first, ...others] = trail;
  return first === extension.address ? [others[0]!, first, ...others.slice(1)] : trail;
}
