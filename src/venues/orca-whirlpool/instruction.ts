import type { Address } from "../../primitives/address.ts";
import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { FlatInstruction, type Instruction, rightsOf } from "../../solana/instruction.ts";
import { MEMO_PROGRAM } from "../../solana/programs.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { WHIRLPOOL_PROGRAM, type WhirlpoolMarket } from "./layout.ts";

const SWAP_V2 = hex("2b04ed0b1ac91e62");
/** The older instruction, which knows the SPL Token program alone. */
const SWAP = hex("f8c69e91e17587c8");
const SWAP_V2_RIGHTS = rightsOf("rr r R w rr ww ww www w");
const SWAP_RIGHTS = rightsOf("r R w ww ww www w");

interface WhirlpoolSwap {
  readonly market: WhirlpoolMarket;
  readonly tokenPrograms: readonly [Address, Address];
  /** In any order, and one may repeat; those not initialised count as empty. */
  readonly tickArrays: readonly [Address, Address, Address];
  readonly aToB: boolean;
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True for `swap`, which makes the same trade of two SPL Token mints and names four accounts fewer. */
  readonly isOlder: boolean;
}

/**
 * The `swap_v2` instruction, without a price limit and without extra accounts. exactIn: `amount` goes in, at least the
 * threshold comes out. exactOut: `amount` comes out, at most the threshold goes in. Amounts are the wallet's side.
 *
 * @see Orca whirlpools, program of October 2024, `instructions/v2/swap.rs`
 */
export function whirlpoolSwap(swap: WhirlpoolSwap, terms: SwapTerms): Instruction {
  const { market, tokenPrograms, tickArrays, aToB, mode, amount, isOlder } = swap;
  const data = pooledBytes(isOlder ? 42 : 43);
  data.set(isOlder ? SWAP : SWAP_V2);
  writeU64(data, 8, amount);
  writeU64(data, 16, terms.threshold);
  data[40] = mode === "exactIn" ? 1 : 0;
  data[41] = aToB ? 1 : 0;
  const [a, b] = tokenPrograms;
  const start = isOlder
    ? [a, terms.wallet, market.address]
    : [a, b, MEMO_PROGRAM, terms.wallet, market.address, market.mints[0], market.mints[1]];
  const accounts = [
    ...start,
    aToB ? terms.source : terms.destination,
    market.vaults[0],
    aToB ? terms.destination : terms.source,
    market.vaults[1],
    tickArrays[0],
    tickArrays[1],
    tickArrays[2],
    market.oracle,
  ];
  return new FlatInstruction(WHIRLPOOL_PROGRAM, accounts, isOlder ? SWAP_RIGHTS : SWAP_V2_RIGHTS, data);
}
