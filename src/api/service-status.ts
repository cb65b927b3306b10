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
  readonly venues: readonly { readonly id: string; readonly state: "ready" | "waiting" }[];
  /** Nodes, numbered: their names and URLs stay inside. */
  readonly lanes: readonly { readonly name: string; readonly state: "up" | "down" }[];
  /** Tokens of the embedded chain, for examples; empty on a public network. */
  readonly tokens: readonly {
    readonly symbol: string;
    readonly mint: string;
    readonly markets: readonly { readonly venue: string; readonly against: string }[];
  }[];
}
