import { Address } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import { PRIORITY_LEVELS, type Priority } from "../port.ts";
import { TIP_PERCENTILES, type TipPercentile } from "./tip-floor.ts";

/** A relay or block engine, as the operator describes it. */
export interface RelayConfig {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Accounts a tip may go to. Empty: the relay takes no tips. */
  readonly tipAccounts: readonly Address[];
  /** The smallest tip the relay accepts. Lamports. */
  readonly leastTip: bigint;
  /** The tip of each priority level that uses the relay. Lamports. */
  readonly levels: Readonly<Partial<Record<Priority, bigint>>>;
  /** Undefined: tips are as configured. */
  readonly tipFloor: TipFloorConfig | undefined;
  /** True: a transaction for this relay is sent nowhere else. */
  readonly exclusive: boolean;
  /** True: the relay repeats transactions itself and is sent each one once. */
  readonly repeats: boolean;
  readonly perSecond: number;
  readonly timeoutMs: number;
}

/** Tips that follow recently landed ones. While those are unknown, the configured tips apply. */
interface TipFloorConfig {
  /** Where landed tips are published. */
  readonly url: string;
  /** The percentile each level pays. */
  readonly percentiles: Readonly<Record<Priority, TipPercentile>>;
  /** The most each level pays. Lamports. */
  readonly caps: RelayConfig["levels"];
}

type Fields = Readonly<Record<string, unknown>>;

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
/** A level's default cap, as a multiple of its configured tip. */
const DEFAULT_CAP = 10n;
/** One SOL; a larger tip is taken for a typing error. */
const MAX_TIP_LAMPORTS = 1_000_000_000;
const MAX_TIP = BigInt(MAX_TIP_LAMPORTS);

/**
 * Parses a JSON list of relays. Each needs `name`, `url` and `levels` (lamports of tip by priority level). Optional fields:
 * `tipAccounts`, `leastTip`, `tipFloor` (the `url` of landed tips, `percentiles` and `caps` by level), `headers`,
 * `bundleOnly` (asks a block engine for revert protection; implies `exclusive`), `exclusive`, `repeats`, `perSecond` and
 * `timeoutMs`.
 *
 * @returns undefined if the text is anything else
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
  const bundleOnly = parseFlag(given.bundleOnly);
  const exclusive = parseFlag(given.exclusive);
  const plain = complete({
    name: parseName(given.name),
    url: parseUrl(given.url, bundleOnly === true),
    headers: parseHeaders(given.headers),
    repeats: parseFlag(given.repeats),
    perSecond: parseCount(given.perSecond, 1_000, 1, 100_000),
    timeoutMs: parseCount(given.timeoutMs, 1_000, 50, 10_000),
  });
  const tips = parseTips(given);
  if (plain === undefined || tips === undefined || bundleOnly === undefined || exclusive === undefined)
    return undefined;
  return { ...plain, ...tips, exclusive: exclusive || bundleOnly };
}

/** What the relay is paid. */
function parseTips(given: Fields): Pick<RelayConfig, "tipAccounts" | "leastTip" | "levels" | "tipFloor"> | undefined {
  const tipAccounts = parseAddresses(given.tipAccounts);
  const leastTip = parseCount(given.leastTip, 0, 0, MAX_TIP_LAMPORTS);
  if (tipAccounts === undefined || leastTip === undefined) return undefined;
  const takesTips = tipAccounts.length > 0;
  const levels = parseLevels(given.levels, takesTips ? leastTip : 0, takesTips);
  if (levels === undefined) return undefined;
  const tipFloor = given.tipFloor === undefined ? undefined : parseTipFloor(given.tipFloor, levels);
  if (given.tipFloor !== undefined && (tipFloor === undefined || !takesTips)) return undefined;
  return { tipAccounts, leastTip: BigInt(leastTip), levels, tipFloor };
}

/** The fields as they are, or undefined if any of them is. */
function complete<T extends object>(fields: T): { readonly [K in keyof T]: Exclude<T[K], undefined> } | undefined {
  type Complete = { readonly [K in keyof T]: Exclude<T[K], undefined> };
  return Object.values(fields).includes(undefined) ? undefined : (fields as Complete);
}

/** `rpc…` is reserved for the own nodes. */
function parseName(value: unknown): string | undefined {
  const isName = typeof value === "string" && /^[a-z][a-z0-9-]{0,31}$/.test(value);
  return isName && !value.startsWith("rpc") ? value : undefined;
}

/** Percentiles and caps may name only the relay's own levels; a cap is at least the level's configured tip. */
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
    const cap = parseCount(written[level], Number(minOf(tip * DEFAULT_CAP, MAX_TIP)), Number(tip), MAX_TIP_LAMPORTS);
    if (cap === undefined) return undefined;
    caps[level as Priority] = BigInt(cap);
  }
  return { url, percentiles: { ...DEFAULT_PERCENTILES, ...percentiles }, caps };
}

/** The value as an object with no other fields than these. */
function parseFields(value: unknown, fields: { has(field: string): boolean }): Fields | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.keys(value).every((field) => fields.has(field)) ? (value as Fields) : undefined;
}

function parseFlag(value: unknown): boolean | undefined {
  if (value === undefined) return false;
  return typeof value === "boolean" ? value : undefined;
}

function parseCount(value: unknown, fallback: number, min: number, max: number): number | undefined {
  if (value === undefined) return fallback;
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined;
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
    const lamports = parseCount(tip, 0, leastTip, takesTips ? MAX_TIP_LAMPORTS : 0);
    if (lamports === undefined || !PRIORITY_LEVELS.includes(level as Priority)) return undefined;
    levels[level as Priority] = BigInt(lamports);
  }
  return levels;
}
