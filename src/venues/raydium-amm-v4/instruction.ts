import { pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { FlatInstruction, type Instruction, rightsOf } from "../../solana/instruction.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { AMM_V4_AUTHORITY, AMM_V4_PROGRAM, type AmmV4Market } from "./layout.ts";

const SWAP_BASE_IN_V2 = 16;
const SWAP_BASE_OUT_V2 = 17;

const RIGHTS = rightsOf("r w r ww ww R");

/**
 * The swap instruction, without an order book. exactIn: `amount` goes in, at least the threshold comes out. exactOut:
 * `amount` comes out, at most the threshold goes in. The token accounts determine the direction.
 *
 * @see raydium-amm `instruction.rs`, SwapBaseInV2 and SwapBaseOutV2
 */
export function ammV4Swap(market: AmmV4Market, mode: SwapMode, amount: bigint, terms: SwapTerms): Instruction {
  const data = pooledBytes(17);
  if (mode === "exactIn") {
    data[0] = SWAP_BASE_IN_V2;
    writeU64(data, 1, amount);
    writeU64(data, 9, terms.threshold);
  } else {
    data[0] = SWAP_BASE_OUT_V2;
    writeU64(data, 1, terms.threshold);
    writeU64(data, 9, amount);
  }
  const accounts = [
    TOKEN_PROGRAM,
    market.address,
    AMM_V4_AUTHORITY,
    market.vaults[0],
    market.vaults[1],
    terms.source,
    terms.destination,
    terms.wallet,
  ];
  return new FlatInstruction(AMM_V4_PROGRAM, accounts, RIGHTS, data);
}
