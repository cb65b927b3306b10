import type { Address } from "../primitives/address.ts";

/** An account as read from the chain at `slot`. `data` is never written to. */
export interface Account {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly executable: boolean;
  /** Slot of the state this was read from. */
  readonly slot: bigint;
}

/**
 * The accounts in memory.
 * `null`: the account does not exist. `undefined`: not read yet.
 */
export interface AccountView {
  get(address: Address): Account | null | undefined;
}

/** The chain's own clock, as programs see it. */
export interface ChainClock {
  readonly slot: bigint;
  readonly epoch: bigint;
  /** Seconds since 1970, from the Clock sysvar. */
  readonly unixTimestamp: bigint;
}
