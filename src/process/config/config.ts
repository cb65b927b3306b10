import type { TokenKey } from "../../accounts/secrets.ts";
import { parseRelays, type RelayConfig } from "../../chain/landing/relay-config.ts";
import { Address } from "../../primitives/address.ts";
import { hex } from "../../primitives/bytes.ts";

/** The greatest price of priority that may be set, in micro-lamports per compute unit. */
const MAX_PRICE = 1_000_000_000n;

/** One environment variable. */
interface Setting<T> {
  readonly about: string;
  /** What a value counts, or how it is written. */
  readonly unit: string;
  /** What is accepted, in words. */
  readonly bound: string;
  /** The value when the variable is absent or empty, as it would be written. Undefined: then there is none. */
  readonly fallback: string | undefined;
  /** Another name the variable may have. */
  readonly alias?: string;
  /** Undefined when the text is outside the bound. */
  parse(text: string): T | undefined;
}

interface SettingWithDefault<T> extends Setting<T> {
  readonly fallback: string;
}

/** Every setting there is. */
const SETTINGS = {
  HOST: text("Address to listen on; 0.0.0.0 for all interfaces", "127.0.0.1"),
  PORT: integer("Port of the service, for all its wires; 0 picks a free one", "port", 8_080, 0, 65_535),
  ADMIN_HOST: text("Address of the admin port; keep it off the internet", "127.0.0.1"),
  ADMIN_PORT: integer("Port of metrics and health; 0 picks a free one", "port", 9_090, 0, 65_535),
  PUBLIC_URL: optional(origin("Where callers reach the service; absent: made from HOST and PORT")),
  TLS_CERT: optional(text("File of the certificate chain, PEM; absent: no TLS")),
  TLS_KEY: optional(text("File of the certificate's private key, PEM")),
  LOG_LEVEL: choice("Least severe line that is logged", "info", ["fatal", "error", "warn", "info", "debug", "trace"]),

  DATA_DIR: text("Folder of the embedded database and of the secrets made here", "./data"),
  DATABASE_URL: optional(url("PostgreSQL database; absent: embedded, in DATA_DIR", ["postgres", "postgresql"])),
  KEY_PEPPER: optional(
    secret(
      "Secret that hashes of API keys are made with, one for all who share a database; absent: made once, in DATA_DIR",
    ),
  ),
  TOKEN_KEYS: optional(
    tokenKeys(
      "Keys that submission tokens are sealed with, the same for all who share a database; absent: one made once, in DATA_DIR",
    ),
  ),
  MAX_KEYS_PER_ACCOUNT: integer("API keys in use that one account may have", "keys", 10, 1, 1_000),
  SIGN_IN_CHAIN_ID: optional(
    choice(
      "Network that sign-in challenges and the pages name; absent: the one the chain's first block tells, localnet where nobody knows it",
      "mainnet",
      ["mainnet", "testnet", "devnet", "localnet"],
    ),
  ),

  SOLANA_RPC_URLS: {
    ...optional(urls("Nodes to use; absent: the embedded chain", ["http", "https"])),
    alias: "SOLANA_RPC_URL",
  },
  SOLANA_WS_URLS: {
    ...optional(urls("Their WebSockets, in the same order; absent: made from SOLANA_RPC_URLS", ["ws", "wss"])),
    alias: "SOLANA_WS_URL",
  },
  YELLOWSTONE_URL: optional(
    url("Yellowstone gRPC stream of market state; absent: WebSocket subscriptions", ["http", "https"]),
  ),
  YELLOWSTONE_TOKEN: optional(text("Token sent to it, as x-token")),
  RELAYS: optional(
    relays("Relays and block engines beside the nodes, each with its tips by priority level; docs/mainnet.md"),
  ),
  BLOCKHASH_MAX_AGE_MS: integer("Oldest blockhash a trade is built on", "ms", 2_000, 100, 30_000),
  STATE_MAX_AGE_MS: integer("Oldest market state a trade is built on", "ms", 2_000, 100, 30_000),
  MARKET_SEARCH_MS: integer(
    "How often a pair in use is searched again for markets that are new; those known are followed meanwhile",
    "ms",
    60_000,
    1_000,
    3_600_000,
  ),
  MARKET_SEARCH_PACE_MS: integer(
    "Least time between two such searches, of whatever pairs. Each asks the nodes for accounts some dozen times",
    "ms",
    500,
    0,
    60_000,
  ),
  MARKETS_PER_PAIR: integer("Markets of one pair kept live, the best of those found", "markets", 64, 1, 1_000),
  TRANSACTION_V1: choice(
    "Version 1 transactions, up to 4096 bytes, for routes that fit no other; wallets must know them",
    "off",
    ["off", "on"],
  ),
  LOOKUP_TABLES: optional(
    addressesOrNone("Address lookup tables that make large trades fit, or none; absent: those of the embedded chain"),
  ),

  SANDBOX_PROGRAMS: optional(text("Folder of real programs that replace the embedded chain's stand-ins")),
  SANDBOX_HOST: text("Address the embedded chain listens on; whoever reaches it can use its faucet", "127.0.0.1"),
  SANDBOX_SEED: integer("Seed of the embedded chain's world", "number", 1, 0, 4_294_967_295),
  SANDBOX_PORT: integer(
    "Port of the embedded chain; its WebSocket has the next one; 0 picks free ones",
    "port",
    8_899,
    0,
    65_534,
  ),
  SANDBOX_SLOT_MS: integer("Time of one slot of the embedded chain", "ms", 200, 10, 10_000),

  SUBMIT_ANSWER_MS: integer("Longest time a submit takes to answer", "ms", 25_000, 1_000, 29_000),
  EXPIRY_MARGIN_MS: integer("Taken off a built trade's life for signing and landing it", "ms", 2_000, 0, 20_000),
  COMPUTE_UNIT_MARGIN_PERCENT: integer("Added to the compute units a trade is known to need", "percent", 10, 0, 100),
  PRIORITY_ECONOMY_FLOOR: price("Least price of priority, level economy", 0n),
  PRIORITY_ECONOMY_CAP: price("Greatest price of priority, level economy", 100_000n),
  PRIORITY_ECONOMY_TRIM: integer("Slots left out as outliers, the dearest first, level economy", "percent", 1, 0, 50),
  PRIORITY_FAST_FLOOR: price("Least price of priority, level fast", 1_000n),
  PRIORITY_FAST_CAP: price("Greatest price of priority, level fast", 1_000_000n),
  PRIORITY_FAST_TRIM: integer("Slots left out as outliers, the dearest first, level fast", "percent", 1, 0, 50),
  PRIORITY_FASTER_FLOOR: price("Least price of priority, level faster", 10_000n),
  PRIORITY_FASTER_CAP: price("Greatest price of priority, level faster", 5_000_000n),
  PRIORITY_FASTER_TRIM: integer("Slots left out as outliers, the dearest first, level faster", "percent", 2, 0, 50),
  PRIORITY_FASTEST_FLOOR: price("Least price of priority, level fastest", 100_000n),
  PRIORITY_FASTEST_CAP: price("Greatest price of priority, level fastest", 20_000_000n),
  PRIORITY_FASTEST_TRIM: integer("Slots left out as outliers, the dearest first, level fastest", "percent", 3, 0, 50),

  KEEP_ALIVE_MS: integer("How long an idle connection is held", "ms", 70_000, 1_000, 3_600_000),
  KEEP_ALIVE_HINT_MS: integer(
    "What clients are told instead, so that they close first",
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
    "Of these, connections from one address (IPv6: one /64 network); 0: any number; not counted where TRUSTED_PROXIES is set",
    "connections",
    2_500,
    0,
    1_000_000,
  ),
  CORS_ORIGINS: origins("Web origins whose pages may call this service from a browser; none: CORS is off"),
  TRUSTED_PROXIES: integer(
    "Reverse proxies in front, whose X-Forwarded-For is believed when callers are told apart by address",
    "proxies",
    0,
    0,
    10,
  ),

  BUILD_PER_SECOND: limit("Builds and quotes of one API key", 10_000),
  SUBMIT_PER_SECOND: limit("Submits of one API key", 5_000),
  READ_PER_SECOND: limit("Other calls of one API key", 1_000),
  ADDRESS_BUILD_PER_SECOND: limit("Builds and quotes from one address, whatever the key", 20_000),
  ADDRESS_SUBMIT_PER_SECOND: limit("Submits from one address, whatever the key", 10_000),
  ADDRESS_READ_PER_SECOND: limit("Other calls from one address, whatever the key", 5_000),
  ADDRESS_OPEN_PER_SECOND: limit("Calls that need no key from one address", 1_000),
  ADDRESS_REGISTER_PER_SECOND: limit("Challenges and registrations from one address", 50),
  ADDRESS_AUTH_PER_SECOND: limit(
    "Calls from one address without the key they need, or with a wrong one; keys not in memory are looked up within the same limit",
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
  LIMIT_SHARE_MS: integer(
    "How often processes on one PostgreSQL tell each other what keys and addresses have used; 0 keeps limits apart",
    "ms",
    1_000,
    0,
    60_000,
  ),
  BUILDS_AT_ONCE: integer(
    "Builds and quotes under way at once; more are refused as overload",
    "calls",
    1_000,
    1,
    1_000_000,
  ),
  SUBMITS_AT_ONCE: integer("Submits under way at once; more are refused as overload", "calls", 20_000, 1, 1_000_000),
  BUILD_TURN_MS: integer(
    "How long builds and quotes run before submits and refusals get their turn; the rest of them wait in line",
    "ms",
    2,
    1,
    10_000,
  ),
  BUILD_WAIT_MS: integer(
    "Longest wait in that line; builds that would wait longer are refused as overload",
    "ms",
    100,
    1,
    10_000,
  ),

  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    url("Collector that traces go to, OTLP over HTTP with JSON; absent: no traces", ["http", "https"]),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headers("Headers that the collector asks for, such as its token"),
  OTEL_SERVICE_NAME: text("Name of this service in traces", "tradewire"),
  TRACE_PERCENT: integer(
    "Calls that are traced, unless their caller has decided it (traceparent)",
    "percent",
    10,
    0,
    100,
  ),

  LAME_DUCK_MS: integer(
    "On SIGTERM, how long requests are still taken, each with the word to connect elsewhere, before the port closes",
    "ms",
    3_000,
    0,
    300_000,
  ),
  DRAIN_MS: integer("On stopping, longest time requests under way may take to end", "ms", 30_000, 0, 300_000),
} as const satisfies Record<string, Setting<unknown>>;

/** What groups of settings are about, by the first setting of each. */
const SECTIONS: Partial<Record<keyof typeof SETTINGS, string>> = {
  HOST: "Where it listens",
  DATA_DIR: "Accounts and secrets",
  SOLANA_RPC_URLS: "The chain",
  SANDBOX_PROGRAMS: "The embedded chain",
  SUBMIT_ANSWER_MS: "Trades and what priority costs",
  KEEP_ALIVE_MS: "Connections",
  BUILD_PER_SECOND: "Limits and overload",
  OTEL_EXPORTER_OTLP_ENDPOINT: "Traces",
  LAME_DUCK_MS: "Stopping",
};

type Settings = typeof SETTINGS;
type Name = keyof Settings;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;

type ValueOf<S> = S extends { readonly fallback: string; parse(text: string): infer T | undefined }
  ? NonNullable<T>
  : S extends { parse(text: string): infer T }
    ? T | undefined
    : never;

/** The settings as parsed: `DATA_DIR` is `dataDir`. */
export type Config = { readonly [K in Name as CamelCase<K>]: ValueOf<Settings[K]> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that cannot be used, all of them at once. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Settings that cannot be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.problems = problems;
  }
}

/**
 * Reads every setting from environment variables.
 *
 * @throws ConfigError naming each variable at fault with its unit and bound
 */
export function parseConfig(env: Environment): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of rows()) {
    const given = givenText(env, name, setting, problems);
    const written = given ?? setting.fallback;
    const value = written === undefined ? undefined : setting.parse(written);
    if (written !== undefined && value === undefined) {
      problems.push(`${name} must be ${setting.bound} (${setting.unit}).`);
    }
    values[camelCase(name)] = value;
  }
  const config = values as unknown as Config;
  if (problems.length === 0) problems.push(...contradictions(config));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** One row of the table of settings, in words. */
interface SettingDescription {
  readonly names: readonly string[];
  readonly about: string;
  readonly bound: string;
  readonly unit: string;
  /** As it would be written; undefined where an absent setting is a value of its own. */
  readonly fallback: string | undefined;
}

/** The table of all settings, section by section, for pages. */
export function listSettings(): readonly {
  readonly title: string;
  readonly settings: readonly SettingDescription[];
}[] {
  const sections: { readonly title: string; readonly settings: SettingDescription[] }[] = [];
  for (const [name, { about, bound, unit, fallback, alias }] of rows()) {
    const title = SECTIONS[name as Name];
    if (title !== undefined) sections.push({ title, settings: [] });
    sections
      .at(-1)!
      .settings.push({ names: alias === undefined ? [name] : [name, alias], about, bound, unit, fallback });
  }
  return sections;
}

/** The table of all settings as text, for people. */
export function describeSettings(): string {
  return rows()
    .map(([name, { about, unit, bound, fallback, alias }]) => {
      const names = alias === undefined ? name : `${name}, ${alias}`;
      const ending = fallback === undefined ? "" : ` Default: ${fallback === "" ? "none" : fallback}.`;
      return `${names}\n    ${about}.\n    ${capitalize(bound)} (${unit}).${ending}`;
    })
    .join("\n");
}

const rows = (): [string, Setting<unknown>][] => Object.entries(SETTINGS);

/** What the environment says under either name. Empty is absent, as compose files write it. The text is never repeated: it may be secret. */
function givenText(env: Environment, name: string, setting: Setting<unknown>, problems: string[]): string | undefined {
  const own = env[name]?.trim() || undefined;
  const other = setting.alias === undefined ? undefined : env[setting.alias]?.trim() || undefined;
  if (own !== undefined && other !== undefined)
    problems.push(`${name} and ${setting.alias} are the same setting: give one.`);
  return own ?? other;
}

/** Values that are right alone and wrong together. */
function contradictions(config: Config): string[] {
  const problems: string[] = [];
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    problems.push("TLS_CERT and TLS_KEY belong together: give both or neither.");
  }
  if (config.solanaWsUrls !== undefined && config.solanaWsUrls.length !== config.solanaRpcUrls?.length) {
    problems.push("SOLANA_WS_URLS must name one WebSocket for each of SOLANA_RPC_URLS, in the same order.");
  }
  if (config.keepAliveHintMs > config.keepAliveMs) {
    problems.push(
      "KEEP_ALIVE_HINT_MS must not exceed KEEP_ALIVE_MS (ms): clients would reuse connections already closed.",
    );
  }
  for (const [level, { floor, cap }] of Object.entries(priorityBounds(config))) {
    const name = `PRIORITY_${level.toUpperCase()}`;
    if (floor > cap) problems.push(`${name}_FLOOR must not exceed ${name}_CAP (micro-lamports per compute unit).`);
  }
  return problems;
}

/** Least and greatest price of each priority level, in micro-lamports per compute unit. */
export function priorityBounds(config: Config) {
  return {
    economy: { floor: config.priorityEconomyFloor, cap: config.priorityEconomyCap },
    fast: { floor: config.priorityFastFloor, cap: config.priorityFastCap },
    faster: { floor: config.priorityFasterFloor, cap: config.priorityFasterCap },
    fastest: { floor: config.priorityFastestFloor, cap: config.priorityFastestCap },
  };
}

/** Share of recent slots left out of each priority level as outliers, in percent. */
export function priorityTrims(config: Config) {
  return {
    economy: config.priorityEconomyTrim,
    fast: config.priorityFastTrim,
    faster: config.priorityFasterTrim,
    fastest: config.priorityFastestTrim,
  };
}

/**
 * The WebSocket of a node, found as Solana's own clients find it: the same place with the scheme of WebSockets, and the
 * next port where a port is written.
 *
 * @see https://github.com/solana-foundation/solana-web3.js `makeWebsocketUrl`
 */
export function websocketUrl(rpcUrl: string): string {
  const made = new URL(rpcUrl);
  made.protocol = made.protocol === "https:" ? "wss:" : "ws:";
  const port = /^[^/]+\/\/[^/]*:(\d+)(?:[/?#]|$)/.exec(rpcUrl)?.[1];
  if (port !== undefined) made.port = `${Number(port) + 1}`;
  return made.href;
}

function optional<T>(setting: Setting<T>): Setting<T> & { readonly fallback: undefined } {
  return { ...setting, fallback: undefined };
}

function text(about: string, fallback = ""): SettingWithDefault<string> {
  return { about, unit: "text", bound: "not empty", fallback, parse: (written) => written };
}

function integer(about: string, unit: string, fallback: number, min: number, max: number): SettingWithDefault<number> {
  return {
    about,
    unit,
    bound: `a whole number from ${min} to ${max}`,
    fallback: `${fallback}`,
    parse: (written) => {
      const value = /^\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
      return value >= min && value <= max ? value : undefined;
    },
  };
}

function price(about: string, fallback: bigint): SettingWithDefault<bigint> {
  return {
    about,
    unit: "micro-lamports per compute unit",
    bound: `a whole number from 0 to ${MAX_PRICE}`,
    fallback: `${fallback}`,
    parse: (written) => {
      const value = /^\d{1,15}$/.test(written) ? BigInt(written) : undefined;
      return value !== undefined && value <= MAX_PRICE ? value : undefined;
    },
  };
}

function choice<const T extends string>(about: string, fallback: NoInfer<T>, of: readonly T[]): SettingWithDefault<T> {
  return {
    about,
    unit: "one word",
    bound: `one of ${of.join(", ")}`,
    fallback,
    parse: (written) => of.find((option) => option === written),
  };
}

function url(about: string, schemes: readonly string[]): Setting<string> {
  return {
    about,
    unit: "URL",
    bound: `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`,
    fallback: undefined,
    parse: (written) => (isUrl(written, schemes) ? written : undefined),
  };
}

function urls(about: string, schemes: readonly string[]): Setting<readonly string[]> {
  const one = url(about, schemes);
  return {
    ...one,
    unit: "URLs, comma between",
    bound: `URLs that start with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`,
    parse: (written) => parseList(written, one.parse),
  };
}

/** Calls in a second that a token bucket lets pass. */
function limit(about: string, fallback: number): SettingWithDefault<number> {
  return integer(`${about}; 0: no limit`, "calls per second", fallback, 0, 1_000_000);
}

function origins(about: string): SettingWithDefault<readonly string[]> {
  const one = origin(about);
  return {
    ...one,
    unit: "URLs, comma between",
    bound: "URLs that start with http:// or https:// and end with the host or port",
    fallback: "",
    parse: (written) => (written === "" ? Object.freeze([]) : parseList(written, one.parse)),
  };
}

/** As OpenTelemetry writes them: values percent-encoded where they hold a comma or a space. */
function headers(about: string): SettingWithDefault<Readonly<Record<string, string>>> {
  return {
    about,
    unit: "name=value, comma between",
    bound: "names of headers, each with a value, percent-encoded where it is not plain",
    fallback: "",
    parse: (written) => {
      const pairs = written === "" ? [] : parseList(written, parseHeader);
      return pairs === undefined ? undefined : Object.freeze(Object.fromEntries(pairs));
    },
  };
}

function parseHeader(written: string): readonly [string, string] | undefined {
  const [, name, encoded] = /^([0-9A-Za-z!#$%&'*+.^_`|~-]+) *= *(.*)$/.exec(written) ?? [];
  if (name === undefined || encoded === undefined || /%(?![0-9a-f]{2})/i.test(encoded)) return undefined;
  const value = encoded.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return /^[\x20-\x7e]+$/.test(value) ? [name.toLowerCase(), value] : undefined;
}

function relays(about: string): Setting<readonly RelayConfig[]> {
  return {
    about,
    unit: "JSON",
    bound: "a list of relays with name, url and levels, as docs/mainnet.md shows",
    fallback: undefined,
    parse: parseRelays,
  };
}

/** A URL without path: what a host is called from outside. A trailing slash is dropped. */
function origin(about: string): Setting<string> {
  const schemes = ["http", "https"];
  return {
    about,
    unit: "URL",
    bound: "a URL that starts with http:// or https:// and ends with the host or port",
    fallback: undefined,
    parse: (written) => {
      if (!isUrl(written, schemes)) return undefined;
      const parsed = new URL(written);
      return parsed.href === `${parsed.origin}/` ? parsed.origin : undefined;
    },
  };
}

function addressesOrNone(about: string): Setting<readonly Address[]> {
  return {
    about,
    unit: "base58, comma between",
    bound: "addresses, or none",
    fallback: undefined,
    parse: (written) => (written === "none" ? Object.freeze([]) : parseList(written, Address.parse)),
  };
}

function secret(about: string): Setting<Uint8Array> {
  return {
    about,
    unit: "hexadecimal",
    bound: "at least 32 bytes",
    fallback: undefined,
    parse: (written) => (/^(?:[0-9a-f]{2}){32,}$/i.test(written) ? hex(written) : undefined),
  };
}

function tokenKeys(about: string): Setting<readonly TokenKey[]> {
  return {
    about,
    unit: "name:hexadecimal[:verify], comma between",
    bound: "32-byte keys under different names of letters and digits, one at least without :verify",
    fallback: undefined,
    parse: (written) => {
      const ring = parseList(written, parseTokenKey);
      const names = new Set(ring?.map(({ id }) => id));
      return ring?.length === names.size && ring.some(({ seals }) => seals) ? ring : undefined;
    },
  };
}

function parseTokenKey(written: string): TokenKey | undefined {
  const [, id, digits, verify] = /^([0-9A-Za-z]{1,16}):([0-9a-f]{64})(:verify)?$/i.exec(written) ?? [];
  if (id === undefined || digits === undefined) return undefined;
  return Object.freeze({ id, secret: hex(digits), seals: verify === undefined });
}

function parseList<T>(written: string, parse: (item: string) => T | undefined): readonly T[] | undefined {
  const items = written.split(",").map((item) => parse(item.trim()));
  return items.includes(undefined) ? undefined : Object.freeze(items as T[]);
}

function isUrl(written: string, schemes: readonly string[]): boolean {
  return URL.canParse(written) && schemes.some((scheme) => written.toLowerCase().startsWith(`${scheme}://`));
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const capitalize = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
