import type { Address } from "../../primitives/address.ts";
import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { FlatInstruction, type Instruction, rightsOf } from "../../solana/instruction.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { LAUNCHLAB_AUTHORITY, LAUNCHLAB_EVENT_AUTHORITY, LAUNCHLAB_PROGRAM, type LaunchlabMarket } from "./layout.ts";

const BUY_EXACT_IN = hex("faea0d7bd59c13ec");
const BUY_EXACT_OUT = hex("18d3742869039938");
const SELL_EXACT_IN = hex("9527de9bd37c981a");
const SELL_EXACT_OUT = hex("5fc8472208090ba6");

const RIGHTS = rightsOf("W r rr w ww ww rr rr rr r ww");

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
export function launchlabTrade(trade: LaunchlabTrade, terms: SwapTerms): Instruction {
  const { market, tokenPrograms, buying, mode, amount } = trade;
  const exactIn = mode === "exactIn";
  const data = pooledBytes(32);
  data.set(buying ? (exactIn ? BUY_EXACT_IN : BUY_EXACT_OUT) : exactIn ? SELL_EXACT_IN : SELL_EXACT_OUT);
  writeU64(data, 8, amount);
  writeU64(data, 16, terms.threshold);
  const accounts = [
    terms.wallet,
    LAUNCHLAB_AUTHORITY,
    market.config,
    market.platform,
    market.address,
    buying ? terms.destination : terms.source,
    buying ? terms.source : terms.destination,
    market.vaults[0],
    market.vaults[1],
    market.mints[0],
    market.mints[1],
    tokenPrograms[0],
    tokenPrograms[1],
    LAUNCHLAB_EVENT_AUTHORITY,
    LAUNCHLAB_PROGRAM,
    SYSTEM_PROGRAM,
    market.platformFeeVault,
    market.creatorFeeVault,
  ];
  return new FlatInstruction(LAUNCHLAB_PROGRAM, accounts, RIGHTS, data);
}
