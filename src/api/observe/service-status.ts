/** How one venue is doing. */
export interface VenueStatus {
  readonly id: string;
  /**
   * ready: the last search for its markets succeeded. failing: it did not. idle: nobody has asked for anything that needs one.
   * waiting: nothing is traded now, because the chain's state is old.
   */
  readonly state: "ready" | "failing" | "idle" | "waiting";
  /** Its markets that are kept live now. */
  readonly markets: number;
  /** Time since the last search ended; null before the first. */
  readonly searchAgeMs: number | null;
}

/** What anybody may know of how the service is doing. No address, name or key of anything inside it. */
export interface ServiceStatus {
  readonly serving: boolean;
  /** mainnet, testnet, devnet or localnet. */
  readonly network: string;
  readonly chain: {
    readonly slot: number;
    readonly blockHeight: number;
    /** Measured time of one slot. */
    readonly slotMs: number;
    /** Time since the last slot was heard of. */
    readonly slotAgeMs: number;
  };
  readonly venues: readonly VenueStatus[];
  /** Nodes, numbered: their names and URLs stay inside. */
  readonly senders: readonly { readonly name: string; readonly state: "up" | "down" }[];
  /** Tokens of the embedded chain, for examples; empty on a public network. */
  readonly tokens: readonly {
    readonly symbol: string;
    readonly mint: string;
    readonly markets: readonly { readonly venue: string; readonly against: string }[];
  }[];
}
