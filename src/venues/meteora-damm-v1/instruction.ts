import { hex, pooledBytes, writeU64 } from "../../primitives/bytes.ts";
import { type AccountMeta, type Instruction, readonly, readonlySigner, writable } from "../../solana/instruction.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { SwapTerms } from "../venue.ts";
import { DAMM_V1_PROGRAM, type DammV1Market, type DammV1Vault, VAULT_PROGRAM } from "./layout.ts";

const SWAP = hex("f8c69e91e17587c8");

const vaultProgram = readonly(VAULT_PROGRAM);
const tokenProgram = readonly(TOKEN_PROGRAM);

/** The accounts of a swap that depend only on the pool. */
export interface DammV1Accounts {
  readonly pool: AccountMeta;
  /** Vaults, their tokens, their share mints and the pool's shares: each A then B. */
  readonly vaults: readonly AccountMeta[];
  readonly protocolFees: readonly [AccountMeta, AccountMeta];
  readonly stake: AccountMeta | undefined;
}

/** Prepared once per pool. */
export function dammV1Accounts(market: DammV1Market, vaults: readonly [DammV1Vault, DammV1Vault]): DammV1Accounts {
  const [a, b] = vaults;
  return {
    pool: writable(market.address),
    vaults: [...market.vaults, a.tokenVault, b.tokenVault, a.shareMint, b.shareMint, ...market.shares].map(writable),
    protocolFees: [writable(market.protocolFees[0]), writable(market.protocolFees[1])],
    stake: market.stake === undefined ? undefined : readonly(market.stake),
  };
}

/**
 * The swap instruction: `input` goes in, at least `minimum` comes out.
 *
 * @param from index of the token that goes in: its protocol fee account is named
 * @see @meteora-ag/dynamic-amm-sdk 1.4.1 IDL, instruction swap
 */
export function dammV1Swap(
  accounts: DammV1Accounts,
  from: 0 | 1,
  input: bigint,
  minimum: bigint,
  terms: SwapTerms,
): Instruction {
  const data = pooledBytes(24);
  data.set(SWAP);
  writeU64(data, 8, input);
  writeU64(data, 16, minimum);
  const metas = [
    accounts.pool,
    writable(terms.source),
    writable(terms.destination),
    ...accounts.vaults,
    accounts.protocolFees[from],
    readonlySigner(terms.wallet),
    vaultProgram,
    tokenProgram,
  ];
  if (accounts.stake !== undefined) metas.push(accounts.stake);
  return { program: DAMM_V1_PROGRAM, accounts: metas, data };
}
