import { Address, compareAddresses } from "../../primitives/address.ts";
import { hex, textBytes, viewOf, writeU64 } from "../../primitives/bytes.ts";
import { squareRoot } from "../../primitives/integer.ts";
import { derive, findPda } from "../../solana/pda.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { WorldLedger } from "./genesis-ledger.ts";

/** Raydium's constant product program. */
export const CPMM_PROGRAM = Address.of("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C");

const POOL_SIZE = 637;
const CONFIG_SIZE = 236;
const OBSERVATION_SIZE = 4_075;
const LP_DECIMALS = 9;

/** Trade fee of each fee configuration by its index, in parts per million. */
const TRADE_FEES: readonly bigint[] = [2_500n, 10_000n, 20_000n, 40_000n];
const PROTOCOL_SHARE = 120_000n;
const FUND_SHARE = 40_000n;
const CREATOR_FEE = 500n;

/** The token a pool takes its creator fee in. */
export type CreatorFeeOn = "input" | "token0" | "token1";
const CREATOR_FEE_ON: Readonly<Record<CreatorFeeOn, number>> = { input: 0, token0: 1, token1: 2 };

/** A pool of raydium_cpmm to be put into the world. */
export interface CpmmPoolPlan {
  /** Index of the fee configuration. */
  readonly config: number;
  readonly creator: Address;
  /** Mints in any order, with what the pool holds of each, in base units. */
  readonly sides: readonly [CpmmSide, CpmmSide];
  /** Seconds since 1970 from which on the pool trades. */
  readonly openTime: bigint;
  /** Epoch of the last trade. */
  readonly epoch: bigint;
  /** Absent: no creator fee. */
  readonly creatorFeeOn?: CreatorFeeOn;
}

interface CpmmSide {
  readonly mint: Address;
  readonly decimals: number;
  readonly amount: bigint;
}

/** Puts the fee configurations every pool refers to. */
export function putCpmmConfigs(ledger: WorldLedger, protocolOwner: Address, fundOwner: Address): void {
  TRADE_FEES.forEach((tradeFee, index) => {
    const { address, bump } = findPda([textBytes("amm_config"), bigEndian16(index)], CPMM_PROGRAM);
    const data = new Uint8Array(CONFIG_SIZE);
    data.set(hex("daf42168cbcb2b6f"));
    data[8] = bump;
    viewOf(data).setUint16(10, index, true);
    writeU64(data, 12, tradeFee);
    writeU64(data, 20, PROTOCOL_SHARE);
    writeU64(data, 28, FUND_SHARE);
    writeU64(data, 36, 150_000_000n);
    data.set(protocolOwner.bytes, 44);
    data.set(fundOwner.bytes, 76);
    writeU64(data, 108, CREATOR_FEE);
    ledger.put(address, CPMM_PROGRAM, data);
  });
}

/**
 * Puts a pool with its vaults, liquidity mint and price observations, as the program's own `initialize` leaves them.
 *
 * @returns the pool's address
 */
export function putCpmmPool(ledger: WorldLedger, plan: CpmmPoolPlan): Address {
  const [first, second] = plan.sides;
  const [side0, side1] = compareAddresses(first.mint, second.mint) < 0 ? [first, second] : [second, first];
  const config = derive(CPMM_PROGRAM, "amm_config", bigEndian16(plan.config));
  const pool = derive(CPMM_PROGRAM, "pool", config, side0.mint, side1.mint);
  const authority = findPda([textBytes("vault_and_lp_mint_auth_seed")], CPMM_PROGRAM);
  const lpMint = derive(CPMM_PROGRAM, "pool_lp_mint", pool);
  const observation = derive(CPMM_PROGRAM, "observation", pool);
  const vaults = [side0, side1].map((side) => {
    const vault = derive(CPMM_PROGRAM, "pool_vault", pool, side.mint);
    ledger.hold(vault, authority.address, side.mint, side.amount);
    return vault;
  });
  const liquidity = squareRoot(side0.amount * side1.amount);
  ledger.mint({ mint: lpMint, program: TOKEN_PROGRAM, decimals: LP_DECIMALS, name: "Pool share", symbol: "LP" });
  ledger.holdAssociated(plan.creator, lpMint, liquidity);

  const data = new Uint8Array(POOL_SIZE);
  data.set(hex("f7ede3f5d7c3de46"));
  const keys = [
    config,
    plan.creator,
    vaults[0]!,
    vaults[1]!,
    lpMint,
    side0.mint,
    side1.mint,
    ledger.programOf(side0.mint),
    ledger.programOf(side1.mint),
    observation,
  ];
  keys.forEach((key, index) => {
    data.set(key.bytes, 8 + 32 * index);
  });
  data[328] = authority.bump;
  data[330] = LP_DECIMALS;
  data[331] = side0.decimals;
  data[332] = side1.decimals;
  writeU64(data, 333, liquidity);
  writeU64(data, 373, plan.openTime);
  writeU64(data, 381, plan.epoch);
  if (plan.creatorFeeOn !== undefined) {
    data[389] = CREATOR_FEE_ON[plan.creatorFeeOn];
    data[390] = 1;
  }
  ledger.put(pool, CPMM_PROGRAM, data);

  const observations = new Uint8Array(OBSERVATION_SIZE);
  observations.set(hex("7aaec5358109a584"));
  observations.set(pool.bytes, 11);
  ledger.put(observation, CPMM_PROGRAM, observations);
  return pool;
}

function bigEndian16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 255);
}
