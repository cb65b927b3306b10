import type { Address } from "../../src/primitives/address.ts";
import { hex } from "../../src/primitives/bytes.ts";
import { PUMP_PROGRAM } from "../../src/sandbox/world/pump-fun.ts";
import { PUMP_SWAP_PROGRAM } from "../../src/sandbox/world/pump-swap.ts";
import { type Instruction, readonly, writable, writableSigner } from "../../src/solana/instruction.ts";
import { associatedTokenAddress, derive } from "../../src/solana/pda.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  RENT_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
} from "../../src/solana/programs.ts";

const MIGRATE_V2 = hex("bbcb121fceedfe29");

/** A coin whose curve is complete. */
interface CompletedCoin {
  readonly mint: Address;
  readonly mintProgram: Address;
  /** Wrapped SOL for coins quoted in SOL. */
  readonly quoteMint: Address;
  readonly quoteProgram: Address;
  /** As the program's global account names it. */
  readonly withdrawAuthority: Address;
}

/** The canonical pool a completed curve moves to. */
export function canonicalPool(mint: Address, quoteMint: Address): Address {
  const authority = derive(PUMP_PROGRAM, "pool-authority", mint);
  return derive(PUMP_SWAP_PROGRAM, "pool", new Uint8Array(2), authority, mint, quoteMint);
}

/**
 * Moves a completed curve's liquidity into its pool. Anybody may send it; on the stand-ins `user` pays the rent of two token accounts.
 * About 140 000 compute units on the stand-ins, 285 000 on the real programs.
 *
 * @see @pump-fun/pump-sdk `idl/pump.json`, migrate_v2
 */
export function migrateCurve(coin: CompletedCoin, user: Address): Instruction {
  const { mint, mintProgram, quoteMint, quoteProgram } = coin;
  const curve = derive(PUMP_PROGRAM, "bonding-curve", mint);
  const authority = derive(PUMP_PROGRAM, "pool-authority", mint);
  const pool = canonicalPool(mint, quoteMint);
  const lpMint = derive(PUMP_SWAP_PROGRAM, "pool_lp_mint", pool);
  return {
    program: PUMP_PROGRAM,
    accounts: [
      readonly(derive(PUMP_PROGRAM, "global")),
      writable(coin.withdrawAuthority),
      readonly(mint),
      readonly(quoteMint),
      writable(curve),
      writable(associatedTokenAddress(curve, mint, mintProgram)),
      writable(associatedTokenAddress(curve, quoteMint, quoteProgram)),
      writableSigner(user),
      readonly(SYSTEM_PROGRAM),
      readonly(PUMP_SWAP_PROGRAM),
      writable(pool),
      writable(authority),
      writable(associatedTokenAddress(authority, mint, mintProgram)),
      writable(associatedTokenAddress(authority, quoteMint, quoteProgram)),
      readonly(derive(PUMP_SWAP_PROGRAM, "global_config")),
      writable(lpMint),
      writable(associatedTokenAddress(authority, lpMint, TOKEN_2022_PROGRAM)),
      writable(associatedTokenAddress(pool, mint, mintProgram)),
      writable(associatedTokenAddress(pool, quoteMint, quoteProgram)),
      readonly(mintProgram),
      readonly(quoteProgram),
      readonly(TOKEN_2022_PROGRAM),
      readonly(ASSOCIATED_TOKEN_PROGRAM),
      readonly(derive(PUMP_SWAP_PROGRAM, "__event_authority")),
      readonly(RENT_SYSVAR),
      readonly(derive(PUMP_PROGRAM, "__event_authority")),
      readonly(PUMP_PROGRAM),
    ],
    data: MIGRATE_V2,
  };
}
