import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListTradesRequest,
  ListTradesResponseSchema,
  TradeRecordSchema,
} from "../../../gen/tradewire/v1/trade_pb.ts";
import { TradeStatus } from "../../../gen/tradewire/v1/types_pb.ts";
import type { SubmissionPlace } from "../../accounts/port.ts";
import { invalidField } from "../../errors/tradewire-error.ts";
import { isoMillis } from "../../primitives/clock.ts";
import type { ExactAmounts, ListedTrade, SubmittedTrade, TradePage, TradeQuery } from "../../trade/trade.ts";
import { fromAmounts, fromCosts, fromDiagnosis, fromLeg, priorityCostOf, STATUSES } from "./answers.ts";

/** Trades per page if the request names no number. */
const DEFAULT_LIMIT = 50;

/** What a valid request asks for. @throws TradewireError VALIDATION_ERROR for a time or cursor that cannot be read */
export function toTradeQuery({ limit, cursor, status, since, until }: ListTradesRequest): TradeQuery {
  return {
    most: limit ?? DEFAULT_LIMIT,
    after: cursor === "" ? undefined : parseCursor(cursor),
    statuses: new Set(status.map((one) => STATUS_NAMES.get(one)!)),
    sinceMs: since === "" ? undefined : parseTime(since, "since"),
    untilMs: until === "" ? undefined : parseTime(until, "until"),
  };
}

/** The response of ListTrades. */
export function fromTradePage({ trades, next }: TradePage) {
  return {
    trades: trades.map(fromListed),
    ...(next === undefined ? {} : { nextCursor: formatCursor(next) }),
  } satisfies MessageInitShape<typeof ListTradesResponseSchema>;
}

const LISTED_STATUSES: Readonly<Record<ListedTrade["status"], TradeStatus>> = {
  ...STATUSES,
  failed: TradeStatus.FAILED,
  expired: TradeStatus.EXPIRED,
};
const STATUS_NAMES = new Map(
  Object.entries(LISTED_STATUSES).map(([name, status]) => [status, name as ListedTrade["status"]]),
);

/** A trade in the response of ListTrades. */
function fromListed({ signature, status, slot, trade, quoted, diagnosis, failure, ...times }: ListedTrade) {
  return {
    signature,
    status: LISTED_STATUSES[status],
    ...(slot === undefined ? {} : { slot }),
    ...(trade === undefined ? {} : fromFacts(trade, quoted)),
    ...(trade === undefined || failure !== undefined
      ? {}
      : { priorityCost: priorityCostOf(trade.costs), costs: fromCosts(trade.costs) }),
    submittedAt: isoMillis(times.submittedAtMs),
    ...(times.endedAtMs === undefined ? {} : { endedAt: isoMillis(times.endedAtMs) }),
    ...(failure === undefined ? {} : { failure }),
    ...(diagnosis === undefined ? {} : { diagnosis: fromDiagnosis(diagnosis) }),
  } satisfies MessageInitShape<typeof TradeRecordSchema>;
}

function fromFacts(trade: SubmittedTrade, quoted: ExactAmounts | undefined) {
  return {
    platform: trade.platform,
    inputMint: trade.inMint.toString(),
    outputMint: trade.outMint.toString(),
    ...(quoted === undefined ? {} : { quoted: fromAmounts(trade, quoted) }),
    ...(trade.result === undefined ? {} : { tradeResult: fromAmounts(trade, trade.result) }),
    route: trade.route.map(fromLeg),
  } satisfies MessageInitShape<typeof TradeRecordSchema>;
}

/** A place as an opaque text: milliseconds and the message's hash. */
function formatCursor({ claimedAtMs, messageHash }: SubmissionPlace): string {
  return Buffer.from(`${claimedAtMs}.${messageHash}`).toString("base64url");
}

function parseCursor(cursor: string): SubmissionPlace {
  const parts = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(Buffer.from(cursor, "base64url").toString());
  if (parts === null)
    throw invalidField("cursor", "cursor is not one of this service. Send nextCursor of a page unchanged.");
  return { claimedAtMs: Number(parts[1]), messageHash: parts[2]! };
}

/** Without a time zone a time would be read in the server's own, and a day in UTC, which need not be the caller's. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string, field: string): number {
  const epochMs = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(epochMs) || !isDay(text.slice(0, 10))) {
    const hint = / \d\d:\d\d$/.test(text) ? " In a URL, write + as %2B." : "";
    throw invalidField(
      field,
      `${field} is not a time in ISO 8601 with a time zone, such as 2026-11-22T08:00:00Z.${hint}`,
    );
  }
  return epochMs;
}

/** False for 30 February, which the runtime reads as 2 March. */
function isDay(date: string): boolean {
  return new Date(date).toISOString().startsWith(date);
}
