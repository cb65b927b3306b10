import { Address } from "../../primitives/address.ts";
import { hex, writeU64 } from "../../primitives/bytes.ts";
import { ceilDiv } from "../../primitives/integer.ts";
import { derive } from "../../solana/pda.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { type MintPlan, NO_DATA, type WorldLedger } from "./genesis-ledger.ts";
import {
  BUYBACK_FEE_RECIPIENTS,
  BUYBACK_RATE,
  FEE_RECIPIENTS,
  MAYHEM_FEE_RECIPIENTS,
  putFeeConfig,
  putVolumeAccumulator,
} from "./pump-fees.ts";

/** Pump's bonding curve program. */
export const PUMP_PROGRAM = Address.of("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P");

const GLOBAL_SIZE = 1_088;
const CURVE_SIZE = 166;
const DECIMALS = 6;
const SUPPLY = 1_000_000_000_000_000n;
const INITIAL_VIRTUAL_TOKENS = 1_073_000_000_000_000n;
const INITIAL_REAL_TOKENS = 793_100_000_000_000n;
const INITIAL_VIRTUAL_SOL = 30_000_000_000n;
const INITIAL_VIRTUAL_USDC = 4_300_000_000n;
/** What the migration to a pool takes out of the curve's quote, in lamports. */
const MIGRATION_FEE = 15_000_001n;
const MAX_CREATOR_FEE = 1_000n;

/** A curve of pump_fun to be put into the world. */
export interface CurvePlan {
  readonly mint: Omit<MintPlan, "decimals">;
  readonly quote: Address;
  /** What the curve has taken in so far, in base units of the quote. */
  readonly raised: bigint;
  readonly creator: Address;
  /** Who holds the tokens sold so far, and a mayhem coin's second billion. */
  readonly holder: Address;
  /** False: the first trade that pays the creator also pays the rent of the creator's vault. */
  readonly creatorVault: boolean;
  readonly mayhem?: boolean;
  readonly cashback?: boolean;
  readonly holderReward?: boolean;
  /** Basis points; absent: as the schedule has it. */
  readonly creatorFee?: bigint;
}

/** Puts the accounts every curve refers to. */
export function putPumpGlobals(ledger: WorldLedger, admin: Address, usdc: Address): void {
  const data = new Uint8Array(GLOBAL_SIZE);
  const keys = (at: number, list: readonly Address[]): void => {
    list.forEach((key, index) => {
      data.set(key.bytes, at + 32 * index);
    });
  };
  data.set(hex("a7e8e8b1c86c727f"));
  data[8] = 1;
  keys(9, [admin, FEE_RECIPIENTS[0]!]);
  writeU64(data, 73, INITIAL_VIRTUAL_TOKENS);
  writeU64(data, 81, INITIAL_VIRTUAL_SOL);
  writeU64(data, 89, INITIAL_REAL_TOKENS);
  writeU64(data, 97, SUPPLY);
  writeU64(data, 105, 95n);
  keys(113, [admin]);
  data[145] = 1;
  writeU64(data, 146, MIGRATION_FEE);
  writeU64(data, 154, 30n);
  keys(162, FEE_RECIPIENTS.slice(1));
  keys(386, [admin, admin]);
  data[450] = 1;
  keys(451, [admin, MAYHEM_FEE_RECIPIENTS[0]!]);
  data[515] = 1;
  keys(516, MAYHEM_FEE_RECIPIENTS.slice(1));
  data[740] = 1;
  keys(741, BUYBACK_FEE_RECIPIENTS);
  writeU64(data, 997, BUYBACK_RATE);
  writeU64(data, 1_005, INITIAL_VIRTUAL_USDC);
  keys(1_013, [usdc]);
  data[1_045] = 1;
  writeU64(data, 1_046, MAX_CREATOR_FEE);
  keys(1_054, [admin]);
  data[1_086] = 1;
  ledger.put(derive(PUMP_PROGRAM, "global"), PUMP_PROGRAM, data);
  putFeeConfig(ledger, PUMP_PROGRAM, admin, "curve");
  putVolumeAccumulator(ledger, PUMP_PROGRAM);
}

/**
 * Puts a coin on its bonding curve after `raised` has been paid into it.
 *
 * @returns the curve's address
 */
export function putCurve(ledger: WorldLedger, plan: CurvePlan): Address {
  const { mint } = plan.mint;
  const native = plan.quote === SOL_MINT;
  const curve = derive(PUMP_PROGRAM, "bonding-curve", mint);
  const creator = plan.holderReward ? derive(PUMP_PROGRAM, "holder-rewards", mint) : plan.creator;
  const virtualQuote = (native ? INITIAL_VIRTUAL_SOL : INITIAL_VIRTUAL_USDC) + plan.raised;
  const product = INITIAL_VIRTUAL_TOKENS * (virtualQuote - plan.raised);
  const virtualToken = ceilDiv(product, virtualQuote);
  const sold = INITIAL_VIRTUAL_TOKENS - virtualToken;
  if (sold >= INITIAL_REAL_TOKENS) throw new RangeError(`${plan.mint.symbol} would have completed its curve`);

  ledger.mint({ ...plan.mint, decimals: DECIMALS });
  ledger.holdAssociated(curve, mint, SUPPLY - sold);
  ledger.holdAssociated(plan.holder, mint, sold + (plan.mayhem ? SUPPLY : 0n));
  if (!native) ledger.holdAssociated(curve, plan.quote, plan.raised);

  const data = new Uint8Array(CURVE_SIZE);
  data.set(hex("17b7f83760d8ac60"));
  writeU64(data, 8, virtualToken);
  writeU64(data, 16, virtualQuote);
  writeU64(data, 24, INITIAL_REAL_TOKENS - sold);
  writeU64(data, 32, plan.raised);
  writeU64(data, 40, SUPPLY);
  data.set(creator.bytes, 49);
  data[81] = Number(plan.mayhem ?? false);
  data[82] = Number(plan.cashback ?? false);
  if (!native) data.set(plan.quote.bytes, 83);
  writeU64(data, 115, plan.creatorFee ?? 0n);
  data[124] = Number(plan.holderReward ?? false);
  ledger.put(curve, PUMP_PROGRAM, data, native ? plan.raised : 0n);

  if (plan.creatorVault) {
    const vault = derive(PUMP_PROGRAM, "creator-vault", creator);
    ledger.put(vault, SYSTEM_PROGRAM, NO_DATA);
    if (!native) ledger.holdAssociated(vault, plan.quote, 0n);
  }
  return curve;
}

/** Puts the curve a migrated coin left behind: complete, its reserves gone. */
export function putMigratedCurve(ledger: WorldLedger, mint: Address, creator: Address, cashback: boolean): void {
  const data = new Uint8Array(CURVE_SIZE);
  data.set(hex("17b7f83760d8ac60"));
  writeU64(data, 40, SUPPLY);
  data[48] = 1;
  data.set(creator.bytes, 49);
  data[82] = Number(cashback);
  ledger.put(derive(PUMP_PROGRAM, "bonding-curve", mint), PUMP_PROGRAM, data);
}
