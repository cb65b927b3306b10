import { choice, host, integer, text } from "./plain-values.ts";
import { secret, tokenKeys } from "./secret-values.ts";
import { optional, type Setting } from "./setting.ts";
import { headers, origin, url } from "./url-values.ts";

/** Addresses, ports and the log. */
export const LISTENING_SETTINGS = {
  HOST: host("Address to listen on; 0.0.0.0 for all interfaces", "127.0.0.1"),
  PORT: integer("Port of the service, for all its wires; 0 picks a free one", "port", 8_080, 0, 65_535),
  ADMIN_HOST: host("Address of the admin port; keep it off the internet", "127.0.0.1"),
  ADMIN_PORT: integer("Port of metrics and health; 0 picks a free one", "port", 9_090, 0, 65_535),
  PUBLIC_URL: optional(origin("Where clients reach the service; absent: made from HOST and PORT")),
  TLS_CERT: optional(text("File of the certificate chain, PEM; absent: no TLS")),
  TLS_KEY: optional(text("File of the certificate's private key, PEM")),
  STATUS_FIGURES: optional(
    choice(
      "Whether the home page shows calls, failures, latencies and landing rates to anyone; absent: on with the embedded chain, off with nodes",
      "on",
      ["on", "off"],
    ),
  ),
  NODE_ENV: text("production: no start on the embedded chain or with missing secrets; any other value is ignored"),
  LOG_LEVEL: choice("Lowest severity that is logged", "info", ["fatal", "error", "warn", "info", "debug", "trace"]),
} as const satisfies Record<string, Setting<unknown>>;

/** How long rows of API keys are kept; ten days at least, so that no submission of theirs is pending. */
const keyLife = (about: string, fallback: number) => ({
  ...integer(`${about}; 0: for ever`, "days", fallback, 0, 36_500),
  bound: "0, or a whole number from 10 to 36500",
  parse: (written: string) => {
    const days = /^\d{1,5}$/.test(written) ? Number(written) : Number.NaN;
    return days === 0 || (days >= 10 && days <= 36_500) ? days : undefined;
  },
});

/** The database, and the secrets of keys and tokens. */
export const ACCOUNT_SETTINGS = {
  DATA_DIR: text("Folder of the embedded database and of generated secrets", "./data"),
  DATABASE_URL: optional(url("PostgreSQL database; absent: embedded, in DATA_DIR", ["postgres", "postgresql"])),
  KEY_PEPPER: optional(
    secret(
      "Secret that API keys are hashed with, the same for all processes on one database; absent: generated once, in DATA_DIR",
    ),
  ),
  TOKEN_KEYS: optional(
    tokenKeys(
      "Keys that seal submission tokens, the same for all processes on one database; absent: one generated once, in DATA_DIR",
    ),
  ),
  MAX_KEYS_PER_ACCOUNT: integer("Live API keys that one account may have", "keys", 10, 1, 1_000),
  IDLE_KEY_DAYS: keyLife("How long an API key is kept after its last use; then its wallet registers again", 365),
  UNUSED_KEY_DAYS: keyLife("How long an API key that was never used is kept after its registration", 30),
  REVOKED_KEY_DAYS: keyLife("How long a revoked API key stays listed", 90),
  KEEP_TRADES_HOURS: integer(
    "How long a submitted trade can be looked up and listed after its end",
    "hours",
    24,
    24,
    87_600,
  ),
  KEEP_MARKETS_DAYS: integer(
    "How long the index keeps the markets of a token after its last search; one in use is searched every few hours; 0: for ever",
    "days",
    30,
    0,
    36_500,
  ),
  SIGN_IN_CHAIN_ID: optional(
    choice(
      "Network named in sign-in challenges and on the pages; absent: derived from the genesis hash, localnet if that is unknown",
      "mainnet",
      ["mainnet", "testnet", "devnet", "localnet"],
    ),
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** OpenTelemetry. */
export const TRACE_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    url("Collector that receives traces, OTLP over HTTP with JSON; absent: no traces", ["http", "https"]),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headers("Headers that the collector requires, such as a token"),
  OTEL_SERVICE_NAME: text("Name of this service in traces", "tradewire"),
  TRACE_PERCENT: integer(
    "Share of calls that are traced if the caller has not decided it (traceparent)",
    "percent",
    10,
    0,
    100,
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** Graceful shutdown. */
export const STOPPING_SETTINGS = {
  LAME_DUCK_MS: integer(
    "On SIGTERM, how long requests are still accepted before the port closes; each response closes its connection",
    "ms",
    3_000,
    0,
    300_000,
  ),
  DRAIN_TIMEOUT_MS: integer(
    "Longest time that pending requests may take to finish on shutdown",
    "ms",
    30_000,
    0,
    300_000,
  ),
} as const satisfies Record<string, Setting<unknown>>;
