import { Address } from "../../primitives/address.ts";
import { hex, textBytes, viewOf, writeU64 } from "../../primitives/bytes.ts";
import { derive, findPda } from "../../solana/pda.ts";
import { TOKEN_2022_PROGRAM } from "../../solana/programs.ts";
import type { WorldLedger } from "./genesis-ledger.ts";
import {
  BUYBACK_FEE_RECIPIENTS,
  BUYBACK_RATE,
  FEE_RECIPIENTS,
  MAYHEM_FEE_RECIPIENTS,
  putFeeConfig,
  putVolumeAccumulator,
} from "./pump-fees.ts";
import { PUMP_PROGRAM } from "./pump-fun.ts";

/** PumpSwap, the program of pump's pools. */
export const PUMP_SWAP_PROGRAM = Address.of("pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA");

const GLOBAL_CONFIG_SIZE = 949;
const POOL_SIZE = 300;
const LP_DECIMALS = 9;

interface PumpPoolPlan {
  readonly base: Address;
  readonly quote: Address;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
  /** Who made the pool; absent: a completed curve's migration did, which makes it the coin's canonical pool. */
  readonly creator?: Address;
  /** The account that earns the creator's fee; absent: none. */
  readonly coinCreator?: Address;
  readonly cashback?: boolean;
  /** Who holds the shares. */
  readonly holder: Address;
}

/** Puts the accounts every pool refers to. */
export function putPumpSwapGlobals(ledger: WorldLedger, admin: Address): void {
  const data = new Uint8Array(GLOBAL_CONFIG_SIZE);
  const keys = (at: number, list: readonly Address[]): void => {
    list.forEach((key, index) => {
      data.set(key.bytes, at + 32 * index);
    });
  };
  data.set(hex("95089ccaa0fcb0d9"));
  keys(8, [admin]);
  writeU64(data, 40, 20n);
  writeU64(data, 48, 5n);
  keys(57, FEE_RECIPIENTS);
  writeU64(data, 313, 5n);
  keys(321, [admin, admin, MAYHEM_FEE_RECIPIENTS[0]!]);
  data[417] = 1;
  keys(418, MAYHEM_FEE_RECIPIENTS.slice(1));
  data[642] = 1;
  keys(643, BUYBACK_FEE_RECIPIENTS);
  writeU64(data, 899, BUYBACK_RATE);
  keys(907, [admin]);
  data[940] = 1;
  writeU64(data, 941, 1_000n);
  ledger.put(derive(PUMP_SWAP_PROGRAM, "global_config"), PUMP_SWAP_PROGRAM, data);
  putFeeConfig(ledger, PUMP_SWAP_PROGRAM, admin, "pool");
  putVolumeAccumulator(ledger, PUMP_SWAP_PROGRAM);
}

/**
 * Puts a pool of index 0 with its vaults and the mint of its shares.
 *
 * @returns the pool's address
 */
export function putPumpPool(ledger: WorldLedger, plan: PumpPoolPlan): Address {
  const creator = plan.creator ?? derive(PUMP_PROGRAM, "pool-authority", plan.base);
  const index = new Uint8Array(2);
  const seeds = [textBytes("pool"), index, creator.bytes, plan.base.bytes, plan.quote.bytes];
  const { address: pool, bump } = findPda(seeds, PUMP_SWAP_PROGRAM);
  const lpMint = derive(PUMP_SWAP_PROGRAM, "pool_lp_mint", pool);
  const shares = plan.quoteAmount;
  ledger.mint({ mint: lpMint, program: TOKEN_2022_PROGRAM, decimals: LP_DECIMALS, name: "Pool share", symbol: "LP" });
  ledger.holdAssociated(plan.holder, lpMint, shares);
  const baseVault = ledger.holdAssociated(pool, plan.base, plan.baseAmount);
  const quoteVault = ledger.holdAssociated(pool, plan.quote, plan.quoteAmount);
  if (plan.coinCreator !== undefined) {
    ledger.holdAssociated(derive(PUMP_SWAP_PROGRAM, "creator_vault", plan.coinCreator), plan.quote, 0n);
  }

  const data = new Uint8Array(POOL_SIZE);
  data.set(hex("f19a6d0411b16dbc"));
  data[8] = bump;
  viewOf(data).setUint16(9, 0, true);
  [creator, plan.base, plan.quote, lpMint, baseVault, quoteVault].forEach((key, place) => {
    data.set(key.bytes, 11 + 32 * place);
  });
  writeU64(data, 203, shares);
  if (plan.coinCreator !== undefined) data.set(plan.coinCreator.bytes, 211);
  data[244] = Number(plan.cashback ?? false);
  ledger.put(pool, PUMP_SWAP_PROGRAM, data);
  return pool;
}
