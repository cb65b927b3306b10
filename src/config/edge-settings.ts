import { addresses, integer, limit } from "./plain-values.ts";
import type { Setting } from "./setting.ts";
import { origins } from "./url-values.ts";

/** Connections and the sizes of what comes over them. */
export const CONNECTION_SETTINGS = {
  KEEP_ALIVE_MS: integer("How long an idle connection is held", "ms", 70_000, 1_000, 3_600_000),
  KEEP_ALIVE_HINT_MS: integer(
    "Keep-alive announced to clients; shorter, so that they close first",
    "ms",
    65_000,
    1_000,
    3_600_000,
  ),
  MAX_REQUESTS_PER_CONNECTION: integer("Requests served on one connection", "requests", 10_000, 1, 1_000_000_000),
  BODY_LIMIT_BYTES: integer("Longest request body", "bytes", 16_384, 1_024, 1_048_576),
  HEADER_LIMIT_BYTES: integer("Longest request head", "bytes", 8_192, 1_024, 65_536),
  HEADERS_TIMEOUT_MS: integer("Longest time a request's head may take to arrive", "ms", 5_000, 100, 60_000),
  REQUEST_TIMEOUT_MS: integer("Longest time a whole request may take to arrive", "ms", 10_000, 100, 300_000),
  MAX_CONNECTIONS: integer("Connections held at once; more are refused", "connections", 5_000, 1, 1_000_000),
  MAX_CONNECTIONS_PER_ADDRESS: integer(
    "Of these, connections from one address (IPv6: one /64 network); 0: any number; those of proxies are not counted",
    "connections",
    2_500,
    0,
    1_000_000,
  ),
  MAX_STREAMS: integer(
    "Open HTTP/2 streams of all connections; one address that is no proxy's gets half of them; 0: any number",
    "streams",
    8_000,
    0,
    1_000_000,
  ),
  MAX_WAITING_BYTES: integer(
    "Bytes that wait for clients to read them; one connection gets half; beyond that the fullest are closed; 0: any number",
    "bytes",
    67_108_864,
    0,
    8_589_934_592,
  ),
  STALL_TIMEOUT_MS: integer(
    "Longest time a client may read nothing of what waits for it; then its stream or connection is closed",
    "ms",
    10_000,
    1_000,
    300_000,
  ),
  CORS_ORIGINS: origins("Web origins whose pages may call this service from a browser; none: CORS is off"),
  TRUSTED_PROXIES: integer(
    "Reverse proxies in front whose X-Forwarded-For is trusted to tell callers apart by address",
    "proxies",
    0,
    0,
    10,
  ),
  PROXY_ADDRESSES: addresses(
    "Addresses of these proxies; none: any peer of a private network. What other peers forward is ignored",
  ),
} as const satisfies Record<string, Setting<unknown>>;

/** Rate limits by key and by address, and when to shed load. */
export const LIMIT_SETTINGS = {
  BUILD_PER_SECOND: limit("Builds and quotes of one API key", 10_000),
  SUBMIT_PER_SECOND: limit("Submits of one API key", 5_000),
  READ_PER_SECOND: limit("Other calls of one API key", 1_000),
  QUERY_PER_SECOND: limit(
    "Balances and lists of trades of one API key: each asks a node, or reads up to 500 records",
    50,
  ),
  ADDRESS_BUILD_PER_SECOND: limit("Builds and quotes from one address, whatever the key", 20_000),
  ADDRESS_SUBMIT_PER_SECOND: limit("Submits from one address, whatever the key", 10_000),
  ADDRESS_READ_PER_SECOND: limit("Other calls from one address, whatever the key", 5_000),
  ADDRESS_QUERY_PER_SECOND: limit("Balances and lists of trades from one address, whatever the key", 250),
  ADDRESS_OPEN_PER_SECOND: limit("Calls from one address that need no key", 1_000),
  ADDRESS_REGISTER_PER_SECOND: limit("Challenges and registrations from one address", 50),
  ADDRESS_PAGE_PER_SECOND: limit("Documents and pages read from one address", 100),
  ADDRESS_AUTH_PER_SECOND: limit(
    "Calls from one address with a missing or wrong key; looking up keys that are not in memory counts too",
    50,
  ),
  MAX_STREAMS_PER_KEY: integer(
    "Streams that one API key, or one address without a key (health, reflection), holds open at once in a process; 0: any number",
    "streams",
    100,
    0,
    1_000_000,
  ),
  LIMIT_BURST_SECONDS: integer("How many seconds' worth of calls may come at once", "seconds", 2, 1, 3_600),
  LIMIT_SYNC_MS: integer(
    "How often processes on one PostgreSQL exchange what keys and addresses have used; 0: each limits alone",
    "ms",
    1_000,
    0,
    60_000,
  ),
  MAX_CONCURRENT_BUILDS: integer(
    "Pending builds and quotes; more are refused as overload",
    "calls",
    1_000,
    1,
    1_000_000,
  ),
  MAX_CONCURRENT_SUBMITS: integer("Pending submits; more are refused as overload", "calls", 20_000, 1, 1_000_000),
  BUILD_SLICE_MS: integer(
    "How long builds and quotes run before submits and refusals get their turn; the rest wait in a queue",
    "ms",
    2,
    1,
    10_000,
  ),
  BUILD_QUEUE_MS: integer(
    "Longest wait in that queue; builds that would wait longer are refused as overload",
    "ms",
    100,
    1,
    10_000,
  ),
} as const satisfies Record<string, Setting<unknown>>;
