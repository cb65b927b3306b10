import type { DescMethod } from "@bufbuild/protobuf";
import { AccountService } from "../../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import { ERRORS, type ErrorCode } from "../../errors/tradewire-error.ts";
import { needsKey } from "../call/access.ts";
import { kindOf } from "../call/gate.ts";

type Json = Record<string, unknown>;

/** Codes that a trade ends with once it has landed or no longer can. */
const ENDINGS: readonly ErrorCode[] = [
  "TX_EXPIRED",
  "SLIPPAGE_EXCEEDED",
  "PROGRAM_ERROR",
  "NO_ROUTE",
  "INSUFFICIENT_LIQUIDITY",
  "INSUFFICIENT_SOL",
  "INSUFFICIENT_TOKEN_BALANCE",
];
/** Codes of whatever asks for a price. */
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

const { buy, sell, swap, quote, submit, getTrade } = TradeService.method;
const { createChallenge, register, getProfile, listKeys, revokeKey } = AccountService.method;

/** What methods fail with beside what every call may. */
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
      "UPSTREAM_ERROR",
    ],
  ],
  [getTrade, [...ENDINGS, "TRADE_NOT_FOUND", "UPSTREAM_ERROR"]],
  [createChallenge, ["UPSTREAM_ERROR"]],
  [register, ["INVALID_SIGNATURE", "CONFLICT_ERROR", "UPSTREAM_ERROR"]],
  [getProfile, ["NOT_FOUND", "UPSTREAM_ERROR"]],
  [listKeys, ["UPSTREAM_ERROR"]],
  [revokeKey, ["NOT_FOUND", "UPSTREAM_ERROR"]],
]);

/** Every code a call of the method over REST may fail with, in the order of the table. */
function codesOf(method: DescMethod, hasBody: boolean): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>(["VALIDATION_ERROR", "HEADERS_TOO_LARGE", "REQUEST_TIMEOUT", "INTERNAL_ERROR"]);
  if (hasBody) codes.add("BODY_TOO_LARGE");
  if (needsKey(method)) codes.add("AUTH_ERROR");
  const kind = kindOf(method);
  if (kind !== undefined) codes.add("RATE_LIMIT_EXCEEDED");
  if (kind === "build" || kind === "submit") codes.add("OVERLOADED");
  // The key is looked up in the database where it was not used lately.
  if (needsKey(method)) codes.add("UPSTREAM_ERROR");
  for (const code of OWN.get(method) ?? []) codes.add(code);
  return (Object.keys(ERRORS) as ErrorCode[]).filter((code) => codes.has(code));
}

const header = (description: string, schema: Json): Json => ({ description, schema });

/** Headers of answers, by the names that operations refer to. */
export const HEADERS: Json = {
  "X-Request-Id": header("Names this call in the service's logs.", { type: "string" }),
  RateLimit: header("What is left of the policy nearest to its end, and when all of it is back.", { type: "string" }),
  "RateLimit-Policy": header("That policy: how many calls in how many seconds.", { type: "string" }),
  "Retry-After": header("Seconds to wait before the next attempt.", { type: "integer", minimum: 0 }),
  "Server-Timing": header("Milliseconds that each stage of the call took.", { type: "string" }),
  "WWW-Authenticate": header("How to authenticate.", { type: "string" }),
};

/** The headers that an answer of this status may have. */
export function headersOf(method: DescMethod, status: number): Json {
  const kind = kindOf(method);
  const names = ["X-Request-Id"];
  if (kind !== undefined) names.push("RateLimit", "RateLimit-Policy");
  if (kind === "build") names.push("Server-Timing");
  if (status === 429 || status === 503) names.push("Retry-After");
  if (status === 401) names.push("WWW-Authenticate");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The failures of a method by HTTP status, each with the codes it may carry. */
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
