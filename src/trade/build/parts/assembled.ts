import type { ChainHead } from "../../../chain/port.ts";
import type { Markets } from "../../../market/port.ts";
import type { Address } from "../../../primitives/address.ts";
import type { Instruction } from "../../../solana/instruction.ts";
import type { Intent } from "../../intent.ts";

/** An account that the transaction creates or enlarges at the wallet's expense. */
export interface CreatedAccount {
  readonly address: Address;
  /** Data bytes; 0 for a system account. */
  readonly space: number;
  /** Lamports paid as rent for it or for its growth; what it receives beyond that is part of the trade. */
  readonly rent: bigint;
  /** True if it exists already, and grows to `space`. */
  readonly grows: boolean;
  /** True if the trade's own lamports, beside that rent, also go into it or come out of it. */
  readonly isTraded?: boolean;
}

/** The instructions of a trade, in order, behind those of the compute budget. */
export interface Assembly {
  readonly instructions: readonly Instruction[];
  /** Upper bound of what the instructions use, without margin. */
  readonly computeUnits: number;
  /** Beyond these, what the same trade by another build may use: its swaps may name other accounts. */
  readonly spareUnits: number;
  /** Beyond these, what the instructions may use if prices move before the trade lands. */
  readonly movedUnits: number;
  /** Upper bound of the instructions that programs call. */
  readonly calls: number;
  /** Accounts that may be created: all that are not known to exist already. */
  readonly creates: readonly CreatedAccount[];
  /** Lamports that the addresses of accounts to create hold already; they reduce the rent to pay. */
  readonly prepaid: bigint;
  /** Rent of the temporary wrapped-SOL account. Lamports the wallet needs while the transaction runs, and gets back. */
  readonly temporaryRent: bigint;
  /** Lamports wrapped in that account when it is opened, beside its rent. */
  readonly wrapped: bigint;
  /** The wallet's token account that is closed, if any, and the lamports it returns. */
  readonly closes: Intent["emptied"];
  /** Accounts that may or may not exist. They count as missing, so `creates` may name too many. */
  readonly unknown: readonly Address[];
  /** True if one instruction bounds the sum of the output: see `TotalGuard`. */
  readonly isGuarded: boolean;
}

/** Stands for an assembly that cannot be made. */
export const NOTHING_ASSEMBLED: Assembly = {
  instructions: [],
  computeUnits: 0,
  spareUnits: 0,
  movedUnits: 0,
  calls: 0,
  creates: [],
  prepaid: 0n,
  temporaryRent: 0n,
  wrapped: 0n,
  closes: undefined,
  unknown: [],
  isGuarded: false,
};

/** What an assembly reads beside the trade itself. */
export interface AssemblyPorts {
  readonly markets: Pick<Markets, "account">;
  readonly head: Pick<ChainHead, "rentExemption">;
}

/** What the assemblies of a trade share. */
export interface AssemblyTerms {
  readonly intent: Intent;
  /** A number that differs between builds: spreads fee recipients. */
  readonly nonce: number;
  /**
   * Seed of the temporary wrapped-SOL account. Nobody must be able to guess it: an account that exists already, funded by
   * anyone, makes the transaction fail.
   */
  readonly seed: string;
}

/**
 * Where SOL is wrapped. `seeded`: in a temporary account at an address of its own; wrapped SOL that the wallet holds is
 * untouched. `associated`: in the wallet's own wrapped-SOL account, a hundred bytes shorter; only for wallets without one.
 */
export type Wrapping = "seeded" | "associated";
