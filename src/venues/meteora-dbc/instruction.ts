import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { type AccountMeta, type Instruction, readonly, readonlySigner, writable } from "../../solana/instruction.ts";
import { INSTRUCTIONS_SYSVAR } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { DBC_AUTHORITY, DBC_EVENT_AUTHORITY, DBC_PROGRAM, type DbcMarket } from "./layout.ts";

const SWAP2 = hex("414b3f4ceb5b5b88");
const EXACT_IN = 0;
const EXACT_OUT = 2;

const authority = readonly(DBC_AUTHORITY);
const eventAuthority = readonly(DBC_EVENT_AUTHORITY);
/** Also fills the place of the referral account, which is absent. */
const program = readonly(DBC_PROGRAM);
const instructionsSysvar = readonly(INSTRUCTIONS_SYSVAR);

/** The accounts of a swap that depend only on the pool. */
export interface DbcAccounts {
  readonly config: AccountMeta;
  readonly pool: AccountMeta;
  readonly baseVault: AccountMeta;
  readonly quoteVault: AccountMeta;
  readonly baseMint: AccountMeta;
  readonly quoteMint: AccountMeta;
  readonly baseProgram: AccountMeta;
  readonly quoteProgram: AccountMeta;
}

/** Prepared once per pool. */
export function dbcAccounts(market: DbcMarket, mints: readonly [Mint, Mint]): DbcAccounts {
  return {
    config: readonly(market.config),
    pool: writable(market.address),
    baseVault: writable(market.vaults[0]),
    quoteVault: writable(market.vaults[1]),
    baseMint: readonly(market.mints[0]),
    quoteMint: readonly(market.mints[1]),
    baseProgram: readonly(mints[0].program),
    quoteProgram: readonly(mints[1].program),
  };
}

interface DbcSwap {
  readonly accounts: DbcAccounts;
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True adds the instructions sysvar, which the program reads for rate limiters and for first swaps. */
  readonly watched: boolean;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in.
 *
 * @see @meteora-ag/dynamic-bonding-curve-sdk 1.5.12 IDL, instruction swap2
 */
export function dbcSwap({ accounts, mode, amount, watched }: DbcSwap, terms: SwapTerms): Instruction {
  const data = pooledBytes(25);
  data.set(SWAP2);
  writeU64(data, 8, amount);
  writeU64(data, 16, terms.threshold);
  data[24] = mode === "exactIn" ? EXACT_IN : EXACT_OUT;
  const metas = [
    authority,
    accounts.config,
    accounts.pool,
    writable(terms.source),
    writable(terms.destination),
    accounts.baseVault,
    accounts.quoteVault,
    accounts.baseMint,
    accounts.quoteMint,
    readonlySigner(terms.wallet),
    accounts.baseProgram,
    accounts.quoteProgram,
    program,
    eventAuthority,
    program,
  ];
  if (watched) metas.push(instructionsSysvar);
  return { program: DBC_PROGRAM, accounts: metas, data };
}
