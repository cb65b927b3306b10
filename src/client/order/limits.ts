import type { Address } from "../../primitives/address.ts";
import { parseAmount, toWholeUnits } from "../../primitives/amount.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import { SOL_MINT, USDC_MINT } from "../../solana/programs.ts";
import { type TradeError, unsigned } from "../trade-error.ts";

/** Bounds of a route. The service keeps to them, and the client checks that it did. */
export interface RouteLimits {
  /** Trade the two mints against each other only: the same as `maxLegs: 1`. */
  readonly directOnly?: boolean | undefined;
  /** Markets in a row at most, 1 to 3. */
  readonly maxLegs?: number | undefined;
  /** Parallel paths at most, 1 to 4. 1 never splits. */
  readonly maxPaths?: number | undefined;
  /** Trade on these venues only, by the names that `platform` has. */
  readonly venues?: readonly string[] | undefined;
  /** Trade on none of these venues. */
  readonly excludeVenues?: readonly string[] | undefined;
  /** Trade on markets only whose quotes were checked by running the deployed programs. The service's word: its answer must say so. */
  readonly requireChecked?: boolean | undefined;
}

/** What the caller allows. Every limit is checked locally before signing; a limit that cannot be checked refuses the trade. */
export interface TradeLimits extends RouteLimits {
  /** Maximum price impact as a fraction: 0.1 is 10 %. The service's figure: `minOutputAmount` bounds the price without it. */
  readonly maxPriceImpact?: number | undefined;
  /** Maximum cost of priority in SOL, tips included. The default follows the size of the trade, see `defaultMaxPriority`. */
  readonly maxPriorityCost?: number | undefined;
  /** Minimum output in whole units; needs `decimals.output` for most tokens. */
  readonly minOutputAmount?: number | undefined;
  /** Maximum input in whole units; needs `decimals.input` for most tokens. */
  readonly maxInputAmount?: number | undefined;
  /** Minimum output in base units, as a decimal string. Needs no decimals. */
  readonly minOutputRaw?: string | undefined;
  /** Maximum input in base units, as a decimal string. Needs no decimals. */
  readonly maxInputRaw?: string | undefined;
  /** Accounts that may receive tips besides the known ones, or "any". `maxPriorityCost` caps tips in either case. */
  readonly tipAccounts?: readonly string[] | "any" | undefined;
  /** Decimals of the two mints. The service's word for them is never taken; those of SOL and USDC are known. */
  readonly decimals?: { readonly input?: number | undefined; readonly output?: number | undefined } | undefined;
  /** Maximum slippage as a fraction; for `slippage: "auto"` 0.03 unless given. */
  readonly maxSlippage?: number | undefined;
  /**
   * Mints that a route may pass through between two markets. Default: any of the plain Token program, where what a market pays
   * arrives whole; that they are is proven by the accounts.
   */
  readonly middleMints?: readonly string[] | undefined;
  /**
   * Maximum rent in SOL of the token accounts that a trade opens for mints between two markets. They belong to the wallet, which gets their
   * rent back when it closes them. Default: the rent of four accounts, the most that routes of the service open. Each account counts as
   * 0.00203928 SOL, the highest rent that the network charges for one.
   */
  readonly maxMiddleRent?: number | undefined;
}

/** The names of the bounds of a route. */
export const ROUTE_KEYS = {
  directOnly: true,
  maxLegs: true,
  maxPaths: true,
  venues: true,
  excludeVenues: true,
  requireChecked: true,
} as const satisfies Record<keyof RouteLimits, true>;

/** The names of the limits. */
export const LIMIT_KEYS = {
  ...ROUTE_KEYS,
  maxPriceImpact: true,
  maxPriorityCost: true,
  minOutputAmount: true,
  maxInputAmount: true,
  minOutputRaw: true,
  maxInputRaw: true,
  tipAccounts: true,
  decimals: true,
  middleMints: true,
  maxMiddleRent: true,
  maxSlippage: true,
} as const satisfies Record<keyof TradeLimits, true>;

/** A limit as a request takes it. */
type Sent<T> = T extends readonly (infer E)[] ? E[] : Exclude<T, undefined>;

/** The bounds of the route that are set, among the limits of a trade. */
export function routeLimitsOf(limits: RouteLimits): { [K in keyof RouteLimits]?: Sent<RouteLimits[K]> } {
  const names = Object.keys(ROUTE_KEYS) as (keyof RouteLimits)[];
  return Object.fromEntries(names.flatMap((name) => (limits[name] === undefined ? [] : [[name, limits[name]]])));
}

/** The deepest mints to pass through, for callers that list theirs: SOL and USDC. */
export const MIDDLE_MINTS: readonly string[] = HUB_MINTS.map((mint) => mint.toString());

/** Decimals that never change and that this library knows by itself. */
const KNOWN_DECIMALS: ReadonlyMap<Address, number> = new Map([
  [SOL_MINT, 9],
  [USDC_MINT, 6],
]);

/** Lamports. */
const LEAST_DEFAULT_PRIORITY = 5_000_000n;
const MOST_DEFAULT_PRIORITY = 50_000_000n;
/** One part of this many: 5 %. */
const DEFAULT_PRIORITY_PART = 20n;

/** Decimals of a mint: those given, or known to this library; never the service's. */
export function decimalsOf(mint: Address, given: number | undefined): number | undefined {
  return KNOWN_DECIMALS.get(mint) ?? given;
}

/**
 * The cap on priority when the caller sets none: 5 % of the SOL that the caller typed into the order or a limit, at least
 * 0.005 SOL and at most 0.05 SOL. Lamports. A failed transaction costs no more than this and the base fee.
 */
export function defaultMaxPriority(typedLamports: bigint): bigint {
  const share = typedLamports / DEFAULT_PRIORITY_PART;
  if (share < LEAST_DEFAULT_PRIORITY) return LEAST_DEFAULT_PRIORITY;
  return share < MOST_DEFAULT_PRIORITY ? share : MOST_DEFAULT_PRIORITY;
}

/**
 * A side's own limit in base units: the stricter one if both forms are given; undefined if neither is.
 * @throws TypeError if it is not an amount; TradeError DECIMALS_REQUIRED
 */
export function ownLimit(
  limits: TradeLimits,
  side: "input" | "output",
  decimals: number | undefined,
): bigint | undefined {
  const isInput = side === "input";
  const name = isInput ? "maxInput" : "minOutput";
  const whole = limits[`${name}Amount` as const];
  const raw = limits[`${name}Raw` as const];
  if (raw !== undefined && !/^\d{1,20}$/.test(raw)) {
    throw new TypeError(`${name}Raw is base units as a decimal string, such as "1500000".`);
  }
  const bounds = raw === undefined ? [] : [BigInt(raw)];
  if (whole !== undefined) {
    if (decimals === undefined)
      throw decimalsRequired(side, `${name}Amount`, `or give the limit in base units: ${name}Raw`);
    const units = whole === 0 ? 0n : isInput ? parseAmount(whole, decimals) : minimumUnits(whole, decimals);
    if (units === undefined) throw new TypeError(`${name}Amount is not a valid amount of this token.`);
    bounds.push(units);
  }
  if (bounds.length === 0) return undefined;
  return bounds.reduce((a, b) => (a < b === isInput ? a : b));
}

/** Base units that are at least this many whole units: rounded up, in the caller's favour. */
function minimumUnits(whole: number, decimals: number): bigint | undefined {
  const units = parseAmount(whole, decimals) ?? (whole > 0 && whole < 1 ? 0n : undefined);
  return units !== undefined && toWholeUnits(units, decimals) < whole ? units + 1n : units;
}

/** Refuses an amount of a token whose decimals only the service knows: it could shift the amount by powers of ten. */
export function decimalsRequired(side: "input" | "output", what: string, otherwise?: string): TradeError {
  const more = otherwise === undefined ? "" : `, ${otherwise}`;
  return unsigned(
    "DECIMALS_REQUIRED",
    `${what} counts whole tokens, and this library does not know the ${side} token's decimals. Pass them as decimals: { ${side}: 6 }${more}`,
  );
}
