import type { RecentFigures } from "./recent-figures.ts";

/** The state of one venue. */
export interface VenueStatus {
  readonly id: string;
  /**
   * ready: the last search for its markets succeeded. failing: it failed. idle: no request needed a search yet. waiting: the
   * chain's state is stale, so nothing is traded. absent: its program is not on this chain. unknown: the chain has not
   * answered yet whether its program is there.
   */
  readonly state: "ready" | "failing" | "idle" | "waiting" | "absent" | "unknown";
  /** Markets that are kept live. */
  readonly markets: number;
  /** Time since the last search ended; null before the first. Milliseconds. */
  readonly searchAgeMs: number | null;
  /** Of these, markets whose last check on the deployed program agreed, and those withheld because it did not. */
  readonly checked: number;
  readonly withheld: number;
  /** Why the venue as a whole is withheld; null if it is not. */
  readonly withheldReason: string | null;
}

/** How running the deployed programs goes. */
interface ShadowStatus {
  /** watch: differences are only reported. guard: markets that differ are withheld. */
  readonly mode: "watch" | "guard";
  readonly state: "up" | "down";
  /** Programs followed, with the slots they were deployed in. */
  readonly programs: readonly { readonly id: string; readonly slot: number }[];
  /** Checks of markets since the start, and those in which one differed. */
  readonly checks: number;
  readonly differences: number;
}

/** The public status of the service. Holds no address, name or key of anything behind it. */
export interface ServiceStatus {
  readonly serving: boolean;
  /** mainnet, testnet, devnet or localnet. */
  readonly network: string;
  readonly chain: {
    readonly slot: number;
    readonly blockHeight: number;
    /** Measured time of one slot. */
    readonly slotMs: number;
    /** Time since the last slot was observed. */
    readonly slotAgeMs: number;
    /** Nodes that must agree on how a trade ended. 1: outcomes and amounts rest on one node's word. */
    readonly witnesses: number;
  };
  readonly venues: readonly VenueStatus[];
  /** Running the deployed programs to check quotes; null if it is off. */
  readonly shadow: ShadowStatus | null;
  /** Nodes and relays; nodes are numbered, so that their URLs stay private. */
  readonly senders: readonly { readonly name: string; readonly state: "up" | "down" }[];
  /** What was asked in the last minutes; null if the operator keeps it private. */
  readonly recent: RecentFigures | null;
  /** How a day's submissions landed, by level and by sender; null if the operator keeps it private. */
  readonly landing: {
    readonly levels: readonly {
      readonly level: string;
      readonly sample: number;
      readonly landedShare: number | null;
      readonly slots: number | null;
      readonly slotsP90: number | null;
    }[];
    readonly senders: readonly {
      readonly name: string;
      readonly sample: number;
      readonly landedShare: number;
      readonly refused: number;
    }[];
  } | null;
  /** True on the embedded chain: `POST /faucet` gives SOL to a wallet. */
  readonly faucet: boolean;
  /** Tokens of the embedded chain, used in examples; empty on a public network. */
  readonly tokens: readonly {
    readonly symbol: string;
    readonly mint: string;
    readonly markets: readonly { readonly venue: string; readonly against: string }[];
  }[];
}
