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
  /** When it was submitted first, on any process. Epoch milliseconds. */
  readonly submittedAtMs: number;
  /** When the build said to build again. Epoch milliseconds. */
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
  /** Its bid beside what landed, by slot; undefined if no node was asked or listed prices. */
  readonly prices:
    | { readonly bid: bigint; readonly nodes: number; readonly bySlot: ReadonlyMap<bigint, LandedPrice> }
    | undefined;
  /** What the wallet held whenever it was read, in order. */
  readonly balances: readonly SeenBalance[];
  /** The base fee and the priority fee, which the wallet pays before anything else runs. Lamports. */
  readonly feeLamports: bigint;
  /** What a wallet may not be left with less of, unless it is nothing; undefined if that is not known. Lamports. */
  readonly leastLamports: bigint | undefined;
}

/** What a wallet held when the newest slot was this one. */
export interface SeenBalance extends WalletBalance {
  readonly slot: bigint;
}
