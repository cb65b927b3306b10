import { addressesOrNone, hubMints, relays } from "./chain-values.ts";
import { choice, host, integer, text } from "./plain-values.ts";
import { PRIORITY_SETTINGS } from "./priority-settings.ts";
import { optional, type Setting } from "./setting.ts";
import { url, urls } from "./url-values.ts";

/** Nodes, streams and relays, and how fresh their data must be. */
export const CHAIN_SETTINGS = {
  SOLANA_RPC_URLS: {
    ...optional(urls("Nodes to use; absent: the embedded chain", ["http", "https"])),
    alias: "SOLANA_RPC_URL",
  },
  SOLANA_WS_URLS: {
    ...optional(urls("Their WebSockets, in the same order; absent: derived from SOLANA_RPC_URLS", ["ws", "wss"])),
    alias: "SOLANA_WS_URL",
  },
  SOLANA_TRUSTED_RPC_URL: optional(
    url(
      "The one of SOLANA_RPC_URLS whose word decides if nodes contradict each other; absent: a trade they disagree about stays pending",
      ["http", "https"],
    ),
  ),
  WITNESS_TIMEOUT_MS: integer(
    "Silence after which a node no longer has to agree with another on how a trade ended",
    "ms",
    5_000,
    500,
    60_000,
  ),
  SOLANA_RPC_TIMEOUT_MS: integer("Longest wait for an answer of a node", "ms", 4_000, 100, 60_000),
  YELLOWSTONE_URL: optional(
    url("Yellowstone gRPC stream of market state; absent: WebSocket subscriptions", ["http", "https"]),
  ),
  YELLOWSTONE_TOKEN: optional(text("Token sent to it, as x-token")),
  RELAYS: optional(
    relays("Relays and block engines beside the nodes, each with its tips by priority level; docs/mainnet.md"),
  ),
  BLOCKHASH_MAX_AGE_MS: integer(
    "Maximum age of the blockhash that a trade is built on, and longest pause of the chain without STATE_STALE",
    "ms",
    10_000,
    100,
    30_000,
  ),
  STATE_MAX_AGE_MS: integer(
    "Maximum age of the market state that a trade is built on, counted from the first newer slot that any node shows",
    "ms",
    2_000,
    100,
    30_000,
  ),
  COMPARISONS_PER_SECOND: integer(
    "Calls per second, over all nodes, that compare the market state of one node with another's; 0 compares nothing",
    "calls",
    40,
    0,
    10_000,
  ),
  MARKET_SEARCH_INTERVAL_MS: integer(
    "Minimum time between searches for new markets of a pair in use; longer for pairs known longer, up to six hours. Known markets stay live meanwhile",
    "ms",
    60_000,
    1_000,
    3_600_000,
  ),
  MARKET_SEARCH_SPACING_MS: integer(
    "Minimum time between two such searches, across all pairs. Each asks the nodes for accounts a dozen times or so",
    "ms",
    500,
    0,
    60_000,
  ),
  COLD_SEARCHES_PER_SECOND: integer(
    "Searches of the chain for tokens that neither memory nor the index of markets knows, by one process; each makes up to 17 getProgramAccounts calls. 0: no limit",
    "searches per second",
    10,
    0,
    100_000,
  ),
  COLD_SEARCHES_PER_KEY: integer("The same for one API key; 0: no limit", "searches per second", 2, 0, 100_000),
  COLD_SEARCHES_PER_ADDRESS: integer(
    "The same from one address, whatever the key; 0: no limit",
    "searches per second",
    4,
    0,
    100_000,
  ),
  COLD_SEARCH_BURST_SECONDS: integer("How many seconds' worth of them may come at once", "seconds", 60, 1, 3_600),
  COLD_SEARCHES_AT_ONCE: integer(
    "Such searches pending at once; one address gets half of the places",
    "searches",
    8,
    1,
    1_000,
  ),
  COLD_SEARCH_WAIT_MS: integer(
    "Longest wait of a call for its turn; callers take turns, and those that would wait longer are refused",
    "ms",
    2_000,
    100,
    20_000,
  ),
  MARKETS_PER_PAIR: integer("Markets of one pair kept live, the best of those found", "markets", 64, 1, 1_000),
  HUB_MINTS: optional(
    hubMints(
      "Mints that a trade may pass through between two markets; absent: SOL, USDC and what is deep; docs/routing.md",
    ),
  ),
  TRANSACTION_V1: choice(
    "Version 1 transactions, up to 4096 bytes, for routes that fit no other and callers that send maxTransactionVersion 1",
    "off",
    ["off", "on"],
  ),
  LOOKUP_TABLES: optional(
    addressesOrNone("Address lookup tables that make large trades fit, or none; absent: those of the embedded chain"),
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** The chain that runs without a node. */
export const SANDBOX_SETTINGS = {
  EMBEDDED_CHAIN: choice(
    "Whether the service may run on the embedded chain without a node. auto: only as an experiment, which it is not if NODE_ENV is production, if HOST or PUBLIC_URL lies beyond loopback, or if YELLOWSTONE_URL or RELAYS is set",
    "auto",
    ["auto", "on", "off"],
  ),
  SANDBOX_PROGRAMS: optional(
    text(
      "Folder of real programs, such as raydium_cpmm.so, that replace the embedded chain's stand-ins of the same name",
    ),
  ),
  SANDBOX_HOST: host("Address the embedded chain listens on; everyone who reaches it can use its faucet", "127.0.0.1"),
  SANDBOX_SEED: integer("Seed of the embedded chain's world", "number", 1, 0, 4_294_967_295),
  SANDBOX_PORT: integer(
    "Port of the embedded chain; its WebSocket uses the next one; 0 picks free ones",
    "port",
    8_899,
    0,
    65_534,
  ),
  SANDBOX_SLOT_MS: integer("Duration of a slot of the embedded chain", "ms", 200, 10, 10_000),
} as const satisfies Record<string, Setting<unknown>>;

/** Margins of a trade, and priority fees. */
export const TRADE_SETTINGS = {
  SUBMIT_TIMEOUT_MS: integer("Longest time a submit takes to answer", "ms", 25_000, 1_000, 29_000),
  HISTORY_HOURS: integer(
    "How long the nodes keep history; a trade that no node shows and that expired longer ago ends as OUTCOME_UNKNOWN",
    "hours",
    24,
    1,
    8_760,
  ),
  EXPIRY_MARGIN_MS: integer("Taken off a built trade's lifetime, for signing and landing", "ms", 2_000, 0, 20_000),
  COMPUTE_UNIT_MARGIN_PERCENT: integer(
    "Added to the compute units that a trade is known to need",
    "percent",
    10,
    0,
    100,
  ),
  ...PRIORITY_SETTINGS,
} as const satisfies Record<string, Setting<unknown>>;

/** Running the deployed programs to check quotes. */
export const SHADOW_SETTINGS = {
  SHADOW_EXECUTION: optional(
    choice(
      "Check quotes by running the deployed programs: guard withholds markets that differ, watch only reports them; absent: guard with nodes, off on the embedded chain",
      "guard",
      ["off", "watch", "guard"],
    ),
  ),
  SHADOW_MEMORY_MIB: integer(
    "Memory of the process that runs them, above which it is restarted",
    "MiB",
    768,
    256,
    8_192,
  ),
  SHADOW_CPU_PERCENT: integer("Processor time for its routine checks", "percent of one core", 2, 0, 100),
} as const satisfies Record<string, Setting<unknown>>;

/** What the settings make of SHADOW_EXECUTION: with nodes, quotes are guarded unless said otherwise. */
export function shadowMode(config: {
  readonly shadowExecution: "off" | "watch" | "guard" | undefined;
  readonly solanaRpcUrls: readonly string[] | undefined;
}): "off" | "watch" | "guard" {
  return config.shadowExecution ?? (config.solanaRpcUrls === undefined ? "off" : "guard");
}
