import { Address } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import { PRIORITY_LEVELS, type Priority } from "../port.ts";
import { TIP_PERCENTILES, type TipPercentile } from "./tip-floor.ts";

/** A relay or block engine, as described by whoever runs the service. */
export interface RelayConfig {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Accounts a tip may go to. None: the relay asks for no tip. */
  readonly tipAccounts: readonly Address[];
  /** Lamports of tip the relay takes at least. */
  readonly leastTip: bigint;
  /** Lamports of tip for each priority level that uses the relay. */
  readonly levels: Readonly<Partial<Record<Priority, bigint>>>;
  /** Absent: tips are as configured. */
  readonly tipFloor: TipFloorConfig | undefined;
  /** True: a transaction for this relay is sent nowhere else. */
  readonly exclusive: boolean;
  /** True: the relay repeats by itself and is sent each transaction once. */
  readonly repeats: boolean;
  readonly perSecond: number;
  readonly timeoutMs: number;
}

/** Tips by those that landed lately. While they are not known the configured ones hold. */
interface TipFloorConfig {
  /** Where they are told. */
  readonly url: string;
  /** Which of them a level pays. */
  readonly percentiles: Readonly<Record<Priority, TipPercentile>>;
  /** Lamports a level pays at most. */
  readonly caps: RelayConfig["levels"];
}

const FIELDS = new Set([
  "name",
  "url",
  "headers",
  "bundleOnly",
  "tipAccounts",
  "leastTip",
  "levels",
  "tipFloor",
  "exclusive",
  "repeats",
  "perSecond",
  "timeoutMs",
]);
const TIP_FLOOR_FIELDS = new Set(["url", "percentiles", "caps"]);
const DEFAULT_PERCENTILES: TipFloorConfig["percentiles"] = { economy: 25, fast: 50, faster: 75, fastest: 95 };
/** A level's cap where none is given, in times its configured tip. */
const DEFAULT_CAP = 10n;
/** One SOL: more is a slip of the pen. */
const MOST_TIP_LAMPORTS = 1_000_000_000;
const MOST_TIP = BigInt(MOST_TIP_LAMPORTS);

/**
 * Reads a JSON list of relays. Each has `name`, `url` and `levels` (lamports of tip by priority level), and may have
 * `tipAccounts`, `leastTip`, `tipFloor` (where landed tips are told, `percentiles` and `caps` by level), `headers`, `bundleOnly` (asks a block engine to drop what would fail; sent nowhere else),
 * `exclusive`, `repeats`, `perSecond`, `timeoutMs`. Undefined when the text is not that.
 */
export function parseRelays(text: string): readonly RelayConfig[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value)) return undefined;
  const relays = value.map(parseRelay);
  const names = new Set(relays.map((relay) => relay?.name));
  return relays.includes(undefined) || names.size !== relays.length ? undefined : (relays as RelayConfig[]);
}

function parseRelay(value: unknown): RelayConfig | undefined {
  const given = parseFields(value, FIELDS);
  if (given === undefined) return undefined;
  const name = typeof given.name === "string" && /^[a-z][a-z0-9-]{0,31}$/.test(given.name) ? given.name : undefined;
  if (name === undefined || name.startsWith("rpc")) return undefined;
  const bundleOnly = parseFlag(given.bundleOnly);
  const exclusive = parseFlag(given.exclusive);
  const repeats = parseFlag(given.repeats);
  const url = parseUrl(given.url, bundleOnly === true);
  const headers = parseHeaders(given.headers);
  const tipAccounts = parseAddresses(given.tipAccounts);
  const leastTip = parseCount(given.leastTip, 0, 0, MOST_TIP_LAMPORTS);
  const perSecond = parseCount(given.perSecond, 1_000, 1, 100_000);
  const timeoutMs = parseCount(given.timeoutMs, 1_000, 50, 10_000);
  if (
    url === undefined ||
    headers === undefined ||
    tipAccounts === undefined ||
    leastTip === undefined ||
    perSecond === undefined ||
    timeoutMs === undefined ||
    bundleOnly === undefined ||
    exclusive === undefined ||
    repeats === undefined
  ) {
    return undefined;
  }
  const levels = parseLevels(given.levels, tipAccounts.length === 0 ? 0 : leastTip, tipAccounts.length > 0);
  if (levels === undefined) return undefined;
  const tipFloor = given.tipFloor === undefined ? undefined : parseTipFloor(given.tipFloor, levels);
  if (given.tipFloor !== undefined && (tipFloor === undefined || tipAccounts.length === 0)) return undefined;
  return {
    name,
    url,
    headers,
    tipAccounts,
    leastTip: BigInt(leastTip),
    levels,
    tipFloor,
    exclusive: exclusive || bundleOnly,
    repeats,
    perSecond,
    timeoutMs,
  };
}

/** Percentiles and caps of the levels that the relay has; a cap is not below the level's configured tip. */
function parseTipFloor(value: unknown, levels: RelayConfig["levels"]): TipFloorConfig | undefined {
  const given = parseFields(value, TIP_FLOOR_FIELDS);
  const url = parseUrl(given?.url, false);
  const hasLevel = (level: string) => levels[level as Priority] !== undefined;
  const percentiles = parseFields(given?.percentiles ?? {}, { has: hasLevel });
  const written = parseFields(given?.caps ?? {}, { has: hasLevel });
  if (url === undefined || percentiles === undefined || written === undefined) return undefined;
  if (!Object.values(percentiles).every((one) => TIP_PERCENTILES.includes(one as TipPercentile))) return undefined;
  const caps: Partial<Record<Priority, bigint>> = {};
  for (const [level, tip] of Object.entries(levels)) {
    const cap = parseCount(written[level], Number(minOf(tip * DEFAULT_CAP, MOST_TIP)), Number(tip), MOST_TIP_LAMPORTS);
    if (cap === undefined) return undefined;
    caps[level as Priority] = BigInt(cap);
  }
  return { url, percentiles: { ...DEFAULT_PERCENTILES, ...percentiles }, caps };
}

/** An object with no other fields than those. */
function parseFields(
  value: unknown,
  fields: { has(field: string): boolean },
): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.keys(value).every((field) => fields.has(field))
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function parseFlag(value: unknown): boolean | undefined {
  if (value === undefined) return false;
  return typeof value === "boolean" ? value : undefined;
}

function parseCount(value: unknown, fallback: number, least: number, most: number): number | undefined {
  if (value === undefined) return fallback;
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : undefined;
}

/** @see https://docs.jito.wtf/lowlatencytxnsend/#sendtransaction for the query parameter that asks for revert protection */
function parseUrl(value: unknown, bundleOnly: boolean): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (bundleOnly) url.searchParams.set("bundleOnly", "true");
  return url.href;
}

function parseHeaders(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every(([, text]) => typeof text === "string" && !/[\r\n]/.test(text))
    ? Object.fromEntries(entries)
    : undefined;
}

function parseAddresses(value: unknown): readonly Address[] | undefined {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return undefined;
  const addresses = value.map((text) => (typeof text === "string" ? Address.parse(text) : undefined));
  return addresses.includes(undefined) ? undefined : (addresses as Address[]);
}

function parseLevels(value: unknown, leastTip: number, takesTips: boolean): RelayConfig["levels"] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const levels: Partial<Record<Priority, bigint>> = {};
  for (const [level, tip] of Object.entries(value)) {
    const lamports = parseCount(tip, 0, leastTip, takesTips ? MOST_TIP_LAMPORTS : 0);
    if (lamports === undefined || !PRIORITY_LEVELS.includes(level as Priority)) return undefined;
    levels[level as Priority] = BigInt(lamports);
  }
  return levels;
}
