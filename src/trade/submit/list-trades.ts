import type { SubmissionPlace, SubmissionQuery, SubmissionRecord, Submissions } from "../../accounts/port.ts";
import { background } from "../../primitives/turns/background.ts";
import { FairSlots } from "../../primitives/turns/fair-slots.ts";
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
/** Chunks read at a time, of all callers: they take turns. The rows of many at once would come in one turn of the loop. */
const CHUNKS_AT_ONCE = 2;
/** Records opened before others get a turn: a fraction of a millisecond's worth. */
const RECORDS_IN_TURN = 8;
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

/** A record as read; of one that is `left out`, only its place counts. */
interface ReadRecord {
  readonly record: SubmissionRecord;
  readonly outcome: Outcome | undefined;
  readonly sealed: SealedTrade | undefined;
  /** True if it is certain not to pass the query. */
  readonly isLeftOut: boolean;
}

/** Lists the submitted trades of an account, from the database. */
export class TradeLister {
  readonly #ports: ListPorts;
  readonly #reads = new FairSlots(CHUNKS_AT_ONCE);

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
      const records = await this.#reads.run(accountId, () => this.#read(accountId, wanted, query.statuses));
      const listed = await Promise.all(
        records.map((record) => (record.isLeftOut ? undefined : this.#entryOf(record, lookUps))),
      );
      for (const [i, trade] of listed.entries()) {
        after = placeOf(records[i]!.record);
        if (trade === undefined) continue;
        if (query.statuses.size === 0 || query.statuses.has(trade.status)) trades.push(trade);
        if (trades.length === most) return { trades, next: isLast(records, i, most) ? undefined : after };
      }
      if (records.length < most) return { trades, next: undefined };
    }
    return { trades, next: after };
  }

  /** Reads a chunk, some records in a turn of the loop. */
  async #read(accountId: string, wanted: SubmissionQuery, statuses: TradeQuery["statuses"]): Promise<ReadRecord[]> {
    const records = await this.#ports.submissions.listOf(accountId, wanted);
    const read: ReadRecord[] = [];
    for (const record of records) {
      if (read.length % RECORDS_IN_TURN === RECORDS_IN_TURN - 1) await background.next();
      const outcome = storedOutcome(record);
      const isLeftOut = statuses.size > 0 && outcome !== undefined && isFinal(outcome) && !statuses.has(endOf(outcome));
      read.push({ record, outcome, sealed: isLeftOut ? undefined : this.#open(record), isLeftOut });
    }
    return read;
  }

  async #entryOf({ record, outcome, sealed }: ReadRecord, lookUps: { left: number }): Promise<ListedTrade> {
    const { signature, claimedAtMs, endedAtMs } = record;
    const times = { signature, submittedAtMs: claimedAtMs, endedAtMs };
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
        status: endOf(end),
        trade: sealed && pendingTrade(sealed, signature),
        diagnosis: diagnosisIn(end),
        failure: { code, message, safeToRebuild: facts.safeToRebuild === true },
      };
    }
    const trade = sealed && answerOf(sealed, signature, end);
    return { ...ended, status: endOf(end), trade, diagnosis: end.diagnosis };
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
    return (await within(LOOK_UP_MS, this.#ports.finality.complete(record, outcome))) ?? outcome;
  }
}

/** True if no record follows the one at `i`: the chunk is not full and this is its end. */
const isLast = (records: readonly ReadRecord[], i: number, most: number): boolean =>
  i === records.length - 1 && records.length < most;

const placeOf = ({ claimedAtMs, messageHash }: SubmissionRecord): SubmissionPlace => ({ claimedAtMs, messageHash });

/** The status of a trade that has ended. */
function endOf(end: Outcome): ListedTrade["status"] {
  if (end.kind === "landed") return end.status;
  return end.code === "TX_EXPIRED" ? "expired" : "failed";
}

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
