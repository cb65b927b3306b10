import type { LandedPrice, WalletBalance } from "../../../chain/port.ts";
import type { TradeEvent } from "../../trade.ts";

/** The chain's head at one time. */
export interface Moment {
  readonly slot: bigint;
  readonly blockHeight: bigint;
}

/** What one process observed of a submission from its start to its end. */
export interface Observations {
  readonly events: readonly TradeEvent[];
  /** When it was first submitted, to any process. Epoch milliseconds. */
  readonly submittedAtMs: number;
  /** The build's `expiresAt`. Epoch milliseconds. */
  readonly expiresAtMs: number;
  readonly lastValidBlockHeight: bigint;
  /** False if another process, or another signature of the message, may have been broadcast too. */
  readonly isWhole: boolean;
  /** When this process took it, when a sender first accepted it, and when its end was known; undefined if that is not known. */
  readonly started: Moment | undefined;
  readonly accepted: Moment | undefined;
  readonly ended: Moment | undefined;
  /** Blocks left in its life when it was built; undefined in tokens of earlier releases. */
  readonly blocksLeftAtBuild: number | undefined;
  /** The slot it landed in; undefined if it expired. */
  readonly landedSlot: bigint | undefined;
  /** Its bid compared with what landed, by slot; undefined if no node was asked or listed prices. */
  readonly prices:
    | { readonly bid: bigint; readonly nodes: number; readonly bySlot: ReadonlyMap<bigint, LandedPrice> }
    | undefined;
  /** The wallet's balance at each read, in order. */
  readonly balances: readonly SeenBalance[];
  /** The base fee and the priority fee, which the wallet pays before anything else runs. Lamports. */
  readonly feeLamports: bigint;
  /** The least that a wallet may be left with, unless it is left with nothing; undefined if unknown. Lamports. */
  readonly leastLamports: bigint | undefined;
}

/** What a wallet held when the newest slot was this one. */
export interface SeenBalance extends WalletBalance {
  readonly slot: bigint;
}
