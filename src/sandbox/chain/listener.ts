import type { Account } from "../../solana/account.ts";
import type { Block, LandedTransaction } from "./ledger.ts";

/** A new slot was opened, and older ones gained commitment. */
export interface SlotAdvance {
  /** Undefined after a fork: no block was finished, and those in `dropped` are gone. */
  readonly sealed: Block | undefined;
  /** Blocks that are no longer part of the chain, newest first. */
  readonly dropped: readonly Block[];
  readonly opened: Block;
  /** Blocks that have just reached the commitment. */
  readonly confirmed: readonly Block[];
  readonly finalized: readonly Block[];
}

/** Receives events synchronously and in order. */
export interface ChainListener {
  landed?(transaction: LandedTransaction): void;
  /** Accounts changed in the open block, as they are now; lamports 0 when gone. */
  changed?(accounts: readonly Account[]): void;
  advanced?(advance: SlotAdvance): void;
}
