import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";

/** An account that exists from the start. */
export interface GenesisAccount {
  readonly address: Address;
  readonly owner: Address;
  readonly lamports: bigint;
  readonly data: Uint8Array;
}

/** What the chain holds when it starts, beside the base programs and the native mints. */
interface Genesis {
  readonly programs: readonly { readonly id: Address; readonly bytes: Uint8Array }[];
  readonly accounts: readonly GenesisAccount[];
}

/** What a chain starts from. */
export interface ChainOptions {
  readonly genesis?: Genesis;
  /** Determines blockhashes, the genesis hash and the faucet's key. Default 1. */
  readonly seed?: number;
  /** Wall clock; the chain's own clock follows it. */
  readonly now: Now;
  /** Seconds since 1970 on the chain's clock at the start. Default: the wall clock. */
  readonly unixTimestamp?: number;
  /** Slot of the first block. */
  readonly startSlot?: number;
  readonly confirmedAfterSlots?: number;
  readonly finalizedAfterSlots?: number;
  readonly keepSlots?: number;
}

/** First slot by default: the first of epoch 1036. */
export const DEFAULT_START_SLOT = 447_552_000;
