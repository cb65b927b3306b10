import { Address } from "../../src/primitives/address.ts";
import { hex, writeU64 } from "../../src/primitives/bytes.ts";
import { CPMM_PROGRAM } from "../../src/sandbox/world/cpmm.ts";
import { type Instruction, readonly, readonlySigner, writable } from "../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../src/solana/pda.ts";

const DISCRIMINATOR = { swapBaseInput: hex("8fbe5adac41e33de"), swapBaseOutput: hex("37d96256a34ab4ad") };

/** Where a pool's data keeps what a swap names. */
export interface CpmmPool {
  readonly address: Address;
  readonly config: Address;
  readonly vaults: readonly [Address, Address];
  readonly mints: readonly [Address, Address];
  readonly tokenPrograms: readonly [Address, Address];
  readonly observation: Address;
}

export function readCpmmPool(address: Address, data: Uint8Array): CpmmPool {
  return {
    address,
    config: Address.from(data, 8),
    vaults: [Address.from(data, 72), Address.from(data, 104)],
    mints: [Address.from(data, 168), Address.from(data, 200)],
    tokenPrograms: [Address.from(data, 232), Address.from(data, 264)],
    observation: Address.from(data, 296),
  };
}

/** One swap as raw numbers: for base input (amount in, least out), for base output (most in, amount out). */
export interface CpmmSwap {
  readonly kind: keyof typeof DISCRIMINATOR;
  /** Index of the mint that goes in. */
  readonly side: 0 | 1;
  readonly first: bigint;
  readonly second: bigint;
}

/** The instruction of a swap between the wallet's associated token accounts. */
export function cpmmInstruction(pool: CpmmPool, wallet: Address, swap: CpmmSwap): Instruction {
  const from = swap.side;
  const to = from === 0 ? 1 : 0;
  const data = new Uint8Array(24);
  data.set(DISCRIMINATOR[swap.kind]);
  writeU64(data, 8, swap.first);
  writeU64(data, 16, swap.second);
  return {
    program: CPMM_PROGRAM,
    accounts: [
      readonlySigner(wallet),
      readonly(derive(CPMM_PROGRAM, "vault_and_lp_mint_auth_seed")),
      readonly(pool.config),
      writable(pool.address),
      writable(associatedTokenAddress(wallet, pool.mints[from], pool.tokenPrograms[from])),
      writable(associatedTokenAddress(wallet, pool.mints[to], pool.tokenPrograms[to])),
      writable(pool.vaults[from]),
      writable(pool.vaults[to]),
      readonly(pool.tokenPrograms[from]),
      readonly(pool.tokenPrograms[to]),
      readonly(pool.mints[from]),
      readonly(pool.mints[to]),
      writable(pool.observation),
    ],
    data,
  };
}
