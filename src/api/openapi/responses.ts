import type { DescMethod } from "@bufbuild/protobuf";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { ERRORS, type ErrorCode } from "../../errors/error-codes.ts";
import { accessOf } from "../call/access.ts";

type Json = Record<string, unknown>;

/** Codes of trades that failed on the chain or can no longer land. */
const ENDINGS: readonly ErrorCode[] = [
  "TX_EXPIRED",
  "OUTCOME_UNKNOWN",
  "SLIPPAGE_EXCEEDED",
  "PROGRAM_ERROR",
  "NO_ROUTE",
  "INSUFFICIENT_LIQUIDITY",
  "INSUFFICIENT_SOL",
  "INSUFFICIENT_TOKEN_BALANCE",
];
/** Codes of every call that needs a price. */
const PRICES: readonly ErrorCode[] = [
  "TOKEN_NOT_FOUND",
  "NO_ROUTE",
  "INSUFFICIENT_LIQUIDITY",
  "UNSUPPORTED_TOKEN_EXTENSION",
  "PRICE_IMPACT_TOO_HIGH",
  "UPSTREAM_ERROR",
  "STATE_STALE",
  "VENUE_DEGRADED",
];
const BUILDS: readonly ErrorCode[] = [
  ...PRICES,
  "INSUFFICIENT_SOL",
  "INSUFFICIENT_TOKEN_BALANCE",
  "PRIORITY_COST_TOO_HIGH",
];

const { buy, sell, swap, quote, submit, getTrade, listTrades, watchTrade, watchQuote } = TradeService.method;
const { createChallenge, register, getProfile, getBalances, listKeys, revokeKey } = AccountService.method;

/** Codes of single methods, on top of those of every call. */
const OWN = new Map<DescMethod, readonly ErrorCode[]>([
  [buy, BUILDS],
  [sell, BUILDS],
  [swap, BUILDS],
  [quote, PRICES],
  [
    submit,
    [
      ...ENDINGS,
      "MESSAGE_MISMATCH",
      "INVALID_SIGNATURE",
      "NOT_FULLY_SIGNED",
      "INVALID_SUBMISSION_TOKEN",
      "WALLET_MISMATCH",
      "CONFLICT_ERROR",
      "UPSTREAM_ERROR",
    ],
  ],
  [getTrade, [...ENDINGS, "TRADE_NOT_FOUND", "UPSTREAM_ERROR"]],
  // A process that stops opens no streams, and one that is busy builds first.
  [watchTrade, [...ENDINGS, "TRADE_NOT_FOUND", "UPSTREAM_ERROR", "OVERLOADED"]],
  [watchQuote, [...PRICES, "OVERLOADED"]],
  [listTrades, ["UPSTREAM_ERROR"]],
  [createChallenge, ["UPSTREAM_ERROR"]],
  [register, ["INVALID_SIGNATURE", "CONFLICT_ERROR", "UPSTREAM_ERROR"]],
  [getProfile, ["NOT_FOUND", "UPSTREAM_ERROR"]],
  [getBalances, ["UPSTREAM_ERROR"]],
  [listKeys, ["UPSTREAM_ERROR"]],
  [revokeKey, ["NOT_FOUND", "UPSTREAM_ERROR"]],
]);

/** Every code that the method may return over REST, in the order of the table. */
function codesOf(method: DescMethod, hasBody: boolean): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(["VALIDATION_ERROR", "HEADERS_TOO_LARGE", "REQUEST_TIMEOUT", "INTERNAL_ERROR"]);
  if (hasBody) codes.add("BODY_TOO_LARGE");
  const { kind, needsKey } = accessOf(method);
  // A key that is not in memory is looked up in the database.
  if (needsKey) codes.add("AUTH_ERROR").add("UPSTREAM_ERROR");
  if (kind !== undefined) codes.add("RATE_LIMIT_EXCEEDED");
  if (kind === "build" || kind === "submit") codes.add("OVERLOADED");
  for (const code of OWN.get(method) ?? []) codes.add(code);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

const header = (description: string, schema: Json): Json => ({ description, schema });

/** Response headers, by the names that operations refer to. */
export const HEADERS: Json = {
  "X-Request-Id": header("Identifies this call in the service's logs.", { type: "string" }),
  RateLimit: header(
    "The calls left in the most restrictive policy and the seconds until it is fully available again.",
    { type: "string" },
  ),
  "RateLimit-Policy": header("The most restrictive policy: calls per number of seconds.", { type: "string" }),
  "Retry-After": header("Seconds to wait before the next attempt.", { type: "integer", format: "int64", minimum: 0 }),
  "Server-Timing": header("Duration of each stage of the call, in milliseconds.", { type: "string" }),
  "WWW-Authenticate": header("How to authenticate.", { type: "string" }),
};

/** The headers that a response with this status may have. */
export function headersOf(method: DescMethod, status: number): Json {
  const { kind } = accessOf(method);
  const names = ["X-Request-Id"];
  if (kind !== undefined) names.push("RateLimit", "RateLimit-Policy");
  if (kind === "build") names.push("Server-Timing");
  if (status === 429 || status === 503) names.push("Retry-After");
  if (status === 401) names.push("WWW-Authenticate");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The error responses of a method by HTTP status, each with its codes. */
export function failuresOf(method: DescMethod, hasBody: boolean): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(method, hasBody)) {
    const { http } = ERRORS[code];
    byStatus.set(http, [...(byStatus.get(http) ?? []), code]);
  }
  const responses: Json = {};
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = {
      description: codes.join(", "),
      headers: headersOf(method, status),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
    };
  }
  return responses;
}
