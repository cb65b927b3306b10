import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { FlatInstruction, type Instruction, rightsOf } from "../../solana/instruction.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { CPMM_AUTHORITY, CPMM_PROGRAM, type CpmmMarket } from "./layout.ts";

const SWAP_BASE_INPUT = hex("8fbe5adac41e33de");
const SWAP_BASE_OUTPUT = hex("37d96256a34ab4ad");

const RIGHTS = rightsOf("R rrw ww ww rr rr w");

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
export function cpmmSwap({ market, zeroForOne, mode, amount }: CpmmSwap, terms: SwapTerms): Instruction {
  const from = zeroForOne ? 0 : 1;
  const to = zeroForOne ? 1 : 0;
  const data = pooledBytes(24);
  if (mode === "exactIn") {
    data.set(SWAP_BASE_INPUT);
    writeU64(data, 8, amount);
    writeU64(data, 16, terms.threshold);
  } else {
    data.set(SWAP_BASE_OUTPUT);
    writeU64(data, 8, terms.threshold);
    writeU64(data, 16, amount);
  }
  const accounts = [
    terms.wallet,
    CPMM_AUTHORITY,
    market.config,
    market.address,
    terms.source,
    terms.destination,
    market.vaults[from],
    market.vaults[to],
    market.tokenPrograms[from],
    market.tokenPrograms[to],
    market.mints[from],
    market.mints[to],
    market.observation,
  ];
  return new FlatInstruction(CPMM_PROGRAM, accounts, RIGHTS, data);
}
