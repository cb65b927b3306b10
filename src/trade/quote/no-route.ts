import { type ErrorFacts, TradewireError } from "../../errors/tradewire-error.ts";
import type { MarketFault } from "../../market/port.ts";
import { MAX_COMPUTE_UNITS, MAX_INSTRUCTIONS } from "../../solana/compute-budget.ts";
import { MAX_TRANSACTION_SIZE, MAX_TRANSACTION_SIZE_V1 } from "../../solana/message.ts";
import type { TradeRequest } from "../trade.ts";
import type { NearestAmounts } from "./nearest-amounts.ts";

/** Codes that apply to the whole trade if every open market refused it with the same one: they concern the trade, not the market. */
export const SHARED_CODES = ["INSUFFICIENT_LIQUIDITY", "VALIDATION_ERROR", "UNSUPPORTED_TOKEN_EXTENSION"] as const;

/**
 * The error of a trade that no market can make: the one code with which every open market refused it, or NO_ROUTE.
 *
 * @param searched venues that were searched for markets
 * @param isNarrowed true if the request leaves out markets or hubs
 * @param nearest amounts that a market takes, asked if the trade is too large for some and too small for the others
 */
export function noRoute(
  refusals: readonly TradewireError[],
  faults: readonly MarketFault[],
  searched: readonly string[],
  isNarrowed = false,
  nearest: () => NearestAmounts = () => ({}),
): TradewireError {
  const tried = faults
    .map(({ venue, market, reason }) => `${venue}${market === undefined ? "" : ` ${market}`}: ${reason}`)
    .join("; ");
  const withheld = faults.filter(({ isWithheld }) => isWithheld === true);
  const venues = venuesOf(faults);
  if (withheld.length > 0) return degraded(withheld, tried, venues);
  // A market that does not trade now, such as a completed curve, says nothing about the trade.
  const open = refusals.filter(({ code }) => code !== "NO_ROUTE");
  const [first] = open;
  const code = SHARED_CODES.find((shared) => open.every((refusal) => refusal.code === shared));
  if (first !== undefined && code !== undefined) {
    const field = code === "VALIDATION_ERROR" ? { field: "amount" } : {};
    const message =
      code === "INSUFFICIENT_LIQUIDITY"
        ? "No market holds enough for this trade. Trade less."
        : asSentence(first.message);
    return new TradewireError(code, message, { ...first.facts, ...field, details: { tried }, tried: venues });
  }
  const isOfSize = open.length > 0 && open.every((refusal) => SIZE_CODES.has(refusal.code));
  if (isOfSize)
    return nothingPriced(tried, venues, searched, isNarrowed, UNFIT_SIZE, { field: "amount", amounts: nearest() });
  const reasons = new Set(refusals.map(({ message }) => message));
  return nothingPriced(tried, venues, searched, isNarrowed, reasons.size === 1 ? [...reasons][0] : "");
}

/** Codes of trades too large and too small. Markets that refuse with both leave room between, or beyond. */
const SIZE_CODES: ReadonlySet<string> = new Set(["INSUFFICIENT_LIQUIDITY", "VALIDATION_ERROR"]);
const UNFIT_SIZE = "some hold too little for it, and for the others it is too small";

/** The venues whose markets were tried. A venue without a tried market, such as one whose search failed, is left out. */
function venuesOf(faults: readonly MarketFault[]): NonNullable<ErrorFacts["tried"]> {
  const named = (isWithheld: boolean) => [
    ...new Set(
      faults
        .filter((fault) => fault.market !== undefined && (fault.isWithheld === true) === isWithheld)
        .map(({ venue }) => venue),
    ),
  ];
  return { refused: named(false), withheld: named(true) };
}

/** Minimum time until a withheld market is checked again. Milliseconds. */
const CHECK_AGAIN_MS = 2_000;

/** Markets could make the trade if they were not withheld. */
function degraded(
  withheld: readonly MarketFault[],
  tried: string,
  venues: NonNullable<ErrorFacts["tried"]>,
): TradewireError {
  const { venue, market, reason } = withheld[0]!;
  const others = withheld.length - 1;
  const more = others === 0 ? "" : others === 1 ? " So is another." : ` So are ${others} more.`;
  const later = withheld.every(({ isForGood }) => isForGood === true)
    ? { retryable: false }
    : { retryAfterMs: CHECK_AGAIN_MS };
  return new TradewireError(
    "VENUE_DEGRADED",
    `${venue}${market === undefined ? "" : ` ${market}`} is withheld: ${reason}.${more}`,
    { ...later, details: { tried }, tried: venues },
  );
}

function nothingPriced(
  tried: string,
  venues: NonNullable<ErrorFacts["tried"]>,
  searched: readonly string[],
  isNarrowed: boolean,
  reason = "",
  { amounts, ...facts }: Pick<ErrorFacts, "field"> & { readonly amounts?: NearestAmounts } = {},
): TradewireError {
  const details = { searched: searched.join(", "), ...(tried === "" ? {} : { tried }), ...amounts };
  const none = isNarrowed
    ? "No market that this request allows trades these two mints: see its venues, excludeVenues, maxLegs, directOnly and requireChecked."
    : "No supported venue has a market for these two mints, directly or through SOL or USDC.";
  const message = tried === "" ? none : `No market can make this trade now${reason === "" ? "" : `: ${reason}`}.`;
  return new TradewireError("NO_ROUTE", message, { ...facts, details, tried: venues });
}

/** Markets give their reason without a capital and a full stop, so that it can follow a colon. */
const asSentence = (reason: string) => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;

/** Why the transaction of a route fits into no form. */
export interface Misfit {
  /** True if it may exceed the compute units or instructions of a transaction. */
  readonly overUnits: boolean;
  /** Its smallest size. */
  readonly transactionBytes: number;
  /** Number of its accounts, if these keep it from fitting although a form has room for its bytes. */
  readonly accounts?: number | undefined;
  /** Set if there is no transaction because a market of the route cannot be traded. */
  readonly fault: MarketFault | undefined;
}

/**
 * The error of a trade whose routes all fail to fit into a transaction: NO_ROUTE if all exceed the network's limit on bytes, with
 * what caller and operator can do; INSUFFICIENT_LIQUIDITY if one may take too many compute units or instructions, as large trades do;
 * VENUE_DEGRADED if every route has a market that cannot be traded.
 */
export function noneFits(
  misfits: readonly Misfit[],
  { transactionV1 }: { readonly transactionV1: boolean },
  { maxTransactionVersion }: Pick<TradeRequest, "maxTransactionVersion">,
): TradewireError {
  if (misfits.some(({ overUnits }) => overUnits)) {
    return new TradewireError(
      "INSUFFICIENT_LIQUIDITY",
      `Every route that fits into a transaction may take more than the network's ${MAX_COMPUTE_UNITS} compute units or ${MAX_INSTRUCTIONS} instructions. Trade less.`,
      { field: "amount" },
    );
  }
  const faults = misfits.flatMap(({ fault }) => fault ?? []);
  const byMarket = new Map(faults.map((fault) => [fault.market, fault]));
  if (faults.length > 0 && faults.length === misfits.length) return noRoute([], [...byMarket.values()], []);
  const sizes = misfits.filter(({ fault }) => fault === undefined).map(({ transactionBytes }) => transactionBytes);
  const bytes = Math.min(...sizes);
  const limit = transactionV1 && maxTransactionVersion === 1 ? MAX_TRANSACTION_SIZE_V1 : MAX_TRANSACTION_SIZE;
  const remedy = transactionV1 ? "LOOKUP_TABLES" : "LOOKUP_TABLES, TRANSACTION_V1";
  const signsMore = transactionV1 && maxTransactionVersion !== 1;
  const yours = signsMore ? " If you can sign version 1 transactions, send maxTransactionVersion 1." : "";
  return new TradewireError(
    "NO_ROUTE",
    `Every route needs a transaction of at least ${bytes} bytes; the network takes ${limit}. Trade in two steps, through SOL or USDC.${yours} The operator can make room with ${remedy}.`,
    { details: { transactionBytes: bytes, limitBytes: limit, remedy } },
  );
}
