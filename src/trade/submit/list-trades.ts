import type { SubmissionPlace, SubmissionRecord, Submissions } from "../../accounts/port.ts";
import type { SealedTrade } from "../build/token/sealed-trade.ts";
import type { TokenSealer } from "../build/token/submission-token.ts";
import type { ExactAmounts, ListedTrade, SubmittedTrade, TradePage, TradeQuery } from "../trade.ts";
import type { Attempts } from "./attempts.ts";
import { openRecord } from "./open-record.ts";
import { diagnosisIn } from "./outcome/expired-outcome.ts";
import type { Finality } from "./outcome/finality.ts";
import { answerOf, isFinal, type Outcome, pendingTrade, slotOf } from "./outcome/outcome.ts";
import type { ProgressCache } from "./outcome/progress-cache.ts";
import { storedOutcome } from "./outcome/stored-outcome.ts";
import { within } from "./waiting.ts";

/** Most chunks read for one page: a filter that few trades pass ends the page early. */
const MOST_CHUNKS = 5;
/** Most trades of a page for which a node is asked; the rest are reported as recorded. */
const MOST_LOOK_UPS = 20;
/** Longest that a node may delay a page. Milliseconds. */
const LOOK_UP_MS = 1_000;

/** What listing trades reads. */
interface ListPorts {
  readonly submissions: Pick<Submissions, "listOf">;
  readonly sealer: TokenSealer;
  readonly attempts: Attempts;
  readonly chain: ProgressCache;
  readonly finality: Finality;
}

/** Lists the submitted trades of an account, from the database. */
export class TradeLister {
  readonly #ports: ListPorts;

  constructor(ports: ListPorts) {
    this.#ports = ports;
  }

  /** A page of the trades that pass the query, newest first. @throws TradewireError UPSTREAM_ERROR */
  async list(accountId: string, query: TradeQuery): Promise<TradePage> {
    const { most, sinceMs, untilMs } = query;
    const trades: ListedTrade[] = [];
    const lookUps = { left: MOST_LOOK_UPS };
    let after = query.after;
    for (let chunk = 0; chunk < MOST_CHUNKS; chunk++) {
      const wanted = { most, after, sinceMs, untilMs, state: stateOf(query) };
      const records = await this.#ports.submissions.listOf(accountId, wanted);
      const listed = await Promise.all(records.map((record) => this.#entryOf(record, lookUps)));
      for (const [i, trade] of listed.entries()) {
        after = placeOf(records[i]!);
        if (query.statuses.size === 0 || query.statuses.has(trade.status)) trades.push(trade);
        if (trades.length === most) return { trades, next: isLast(records, i, most) ? undefined : after };
      }
      if (records.length < most) return { trades, next: undefined };
    }
    return { trades, next: after };
  }

  async #entryOf(record: SubmissionRecord, lookUps: { left: number }): Promise<ListedTrade> {
    const { signature, claimedAtMs, endedAtMs } = record;
    const sealed = this.#open(record);
    const times = { signature, submittedAtMs: claimedAtMs, endedAtMs };
    const outcome = storedOutcome(record);
    if (outcome === undefined) {
      const trade = sealed && (await this.#observe(record, sealed, lookUps));
      return { ...times, status: trade?.status ?? "pending", slot: trade?.slot, trade, quoted: quotedOf(sealed) };
    }
    const end = sealed === undefined ? outcome : await this.#complete(record, outcome, lookUps);
    const ended = { ...times, slot: slotOf(end), quoted: quotedOf(sealed) };
    if (end.kind === "failed") {
      const { code, message, facts } = end;
      return {
        ...ended,
        status: code === "TX_EXPIRED" ? "expired" : "failed",
        trade: sealed && pendingTrade(sealed, signature),
        diagnosis: diagnosisIn(end),
        failure: { code, message, safeToRebuild: facts.safeToRebuild === true },
      };
    }
    const { status, diagnosis } = end;
    return { ...ended, status, trade: sealed && answerOf(sealed, signature, end), diagnosis };
  }

  /** What was sealed at the build; undefined if its key has left the ring, or the record is damaged. */
  #open(record: SubmissionRecord): SealedTrade | undefined {
    try {
      return openRecord(this.#ports.sealer, record);
    } catch {
      return undefined;
    }
  }

  /** A pending trade, from this process's attempt or from the chain. */
  async #observe(record: SubmissionRecord, sealed: SealedTrade, lookUps: { left: number }): Promise<SubmittedTrade> {
    const { attempts, chain } = this.#ports;
    const attempt = attempts.byMessage(record.messageHash);
    if (attempt !== undefined && !attempt.isElsewhere) return chain.standing(attempt.progress.trade);
    const trade = chain.standing(pendingTrade(sealed, record.signature));
    if (lookUps.left-- <= 0) return trade;
    return (await within(LOOK_UP_MS, chain.observe(trade, sealed.lastValidBlockHeight))) ?? trade;
  }

  /** The end of a trade, final if the chain shows it now. */
  async #complete(record: SubmissionRecord, outcome: Outcome, lookUps: { left: number }): Promise<Outcome> {
    if (isFinal(outcome) || lookUps.left-- <= 0) return outcome;
    const { messageHash, signature } = record;
    return (await within(LOOK_UP_MS, this.#ports.finality.complete(messageHash, outcome, signature))) ?? outcome;
  }
}

/** True if no record follows the one at `i`: the chunk is not full and this is its end. */
const isLast = (records: readonly SubmissionRecord[], i: number, most: number): boolean =>
  i === records.length - 1 && records.length < most;

const placeOf = ({ claimedAtMs, messageHash }: SubmissionRecord): SubmissionPlace => ({ claimedAtMs, messageHash });

/** The part of a query's statuses that the database can filter by: an outcome is stored once a trade has ended. */
function stateOf({ statuses }: TradeQuery): "pending" | "ended" | undefined {
  if (statuses.size === 0) return undefined;
  const isOpen = (status: ListedTrade["status"]) => status === "pending" || status === "processed";
  const all = [...statuses];
  if (all.every(isOpen)) return "pending";
  // A pending trade may be reported as confirmed, as the chain shows it.
  return all.some((status) => isOpen(status) || status === "confirmed") ? undefined : "ended";
}

/** What the build promised, over all paths of the route. */
function quotedOf(sealed: SealedTrade | undefined): ExactAmounts | undefined {
  if (sealed === undefined) return undefined;
  let [inAmount, outAmount] = [0n, 0n];
  for (const leg of sealed.route) {
    if (leg.inMint === sealed.inMint) inAmount += leg.inAmount;
    if (leg.outMint === sealed.outMint) outAmount += leg.outAmount;
  }
  return { inAmount, outAmount };
}
