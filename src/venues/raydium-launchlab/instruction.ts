import type { Address } from "../../primitives/address.ts";
import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { type Instruction, readonly, writable, writableSigner } from "../../solana/instruction.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { LAUNCHLAB_AUTHORITY, LAUNCHLAB_EVENT_AUTHORITY, LAUNCHLAB_PROGRAM, type LaunchlabMarket } from "./layout.ts";

const BUY_EXACT_IN = hex("faea0d7bd59c13ec");
const BUY_EXACT_OUT = hex("18d3742869039938");
const SELL_EXACT_IN = hex("9527de9bd37c981a");
const SELL_EXACT_OUT = hex("5fc8472208090ba6");

const authority = readonly(LAUNCHLAB_AUTHORITY);
const eventAuthority = readonly(LAUNCHLAB_EVENT_AUTHORITY);
const program = readonly(LAUNCHLAB_PROGRAM);
const system = readonly(SYSTEM_PROGRAM);

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
  return {
    program: LAUNCHLAB_PROGRAM,
    accounts: [
      writableSigner(terms.wallet),
      authority,
      readonly(market.config),
      readonly(market.platform),
      writable(market.address),
      writable(buying ? terms.destination : terms.source),
      writable(buying ? terms.source : terms.destination),
      writable(market.vaults[0]),
      writable(market.vaults[1]),
      readonly(market.mints[0]),
      readonly(market.mints[1]),
      readonly(tokenPrograms[0]),
      readonly(tokenPrograms[1]),
      eventAuthority,
      program,
      system,
      writable(market.platformFeeVault),
      writable(market.creatorFeeVault),
    ],
    data,
  };
}
