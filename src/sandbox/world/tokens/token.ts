import { Address } from "../../../primitives/address.ts";
import type { Random } from "../../../primitives/random.ts";
import type { MintPlan } from "../genesis-ledger.ts";

/** Base units of one SOL and of one USDC. */
export const SOL = 1_000_000_000n;
export const USDC = 1_000_000n;

/** A token at one of its markets. A token with several markets is listed once for each. */
export interface WorldToken {
  readonly mint: Address;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** Its token program. */
  readonly program: Address;
  readonly venue: "pump_fun" | "pump_swap" | "raydium_cpmm" | "raydium_launchlab";
  readonly market: Address;
  /** What it trades against there. */
  readonly quoteMint: Address;
  /** Token-2022 transfer fee, in basis points. */
  readonly transferFeeBps: number;
}

/** An address without a known key. */
export function newAddress(random: Random): Address {
  return Address.from(random.bytes(32));
}

/** The amount, give or take 5 %: round numbers would hide rounding errors. */
export function vary(random: Random, amount: bigint): bigint {
  return random.between((amount * 19n) / 20n, (amount * 21n) / 20n);
}

/** The listing of a token at one market. */
export function worldToken(
  plan: MintPlan,
  venue: WorldToken["venue"],
  market: Address,
  quoteMint: Address,
): WorldToken {
  return {
    mint: plan.mint,
    symbol: plan.symbol,
    name: plan.name,
    decimals: plan.decimals,
    program: plan.program,
    venue,
    market,
    quoteMint,
    transferFeeBps: plan.transferFee?.bps ?? 0,
  };
}
