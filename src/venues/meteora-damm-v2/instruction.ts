import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { type AccountMeta, type Instruction, readonly, readonlySigner, writable } from "../../solana/instruction.ts";
import { INSTRUCTIONS_SYSVAR } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import type { SwapMode, SwapTerms } from "../venue.ts";
import { DAMM_V2_AUTHORITY, DAMM_V2_EVENT_AUTHORITY, DAMM_V2_PROGRAM, type DammV2Market } from "./layout.ts";

const SWAP2 = hex("414b3f4ceb5b5b88");
const EXACT_IN = 0;
const EXACT_OUT = 2;

const authority = readonly(DAMM_V2_AUTHORITY);
const eventAuthority = readonly(DAMM_V2_EVENT_AUTHORITY);
/** Also fills the place of the referral account, which is absent. */
const program = readonly(DAMM_V2_PROGRAM);
const instructionsSysvar = readonly(INSTRUCTIONS_SYSVAR);

/** The accounts of a swap that depend only on the pool, in the program's order around the wallet's own. */
export interface DammV2Accounts {
  readonly pool: AccountMeta;
  readonly vaultA: AccountMeta;
  readonly vaultB: AccountMeta;
  readonly mintA: AccountMeta;
  readonly mintB: AccountMeta;
  readonly programA: AccountMeta;
  readonly programB: AccountMeta;
}

/** Prepared once per pool. */
export function dammV2Accounts(market: DammV2Market, mints: readonly [Mint, Mint]): DammV2Accounts {
  return {
    pool: writable(market.address),
    vaultA: writable(market.vaults[0]),
    vaultB: writable(market.vaults[1]),
    mintA: readonly(market.mints[0]),
    mintB: readonly(market.mints[1]),
    programA: readonly(mints[0].program),
    programB: readonly(mints[1].program),
  };
}

interface DammV2Swap {
  readonly accounts: DammV2Accounts;
  readonly mode: SwapMode;
  readonly amount: bigint;
  /** True adds the instructions sysvar, which a pool with a rate limiter requires for buys. */
  readonly watched: boolean;
}

/**
 * The swap instruction. exactIn: `amount` goes in, at least the threshold comes out. exactOut: `amount` comes out, at most
 * the threshold goes in. Amounts are the wallet's side.
 *
 * @see @meteora-ag/cp-amm-sdk 1.5.0 IDL, instruction swap2
 */
export function dammV2Swap({ accounts, mode, amount, watched }: DammV2Swap, terms: SwapTerms): Instruction {
  const data = pooledBytes(25);
  data.set(SWAP2);
  writeU64(data, 8, amount);
  writeU64(data, 16, terms.threshold);
  data[24] = mode === "exactIn" ? EXACT_IN : EXACT_OUT;
  const metas = [
    authority,
    accounts.pool,
    writable(terms.source),
    writable(terms.destination),
    accounts.vaultA,
    accounts.vaultB,
    accounts.mintA,
    accounts.mintB,
    readonlySigner(terms.wallet),
    accounts.programA,
    accounts.programB,
    program,
    eventAuthority,
    program,
  ];
  if (watched) metas.push(instructionsSysvar);
  return { program: DAMM_V2_PROGRAM, accounts: metas, data };
}
