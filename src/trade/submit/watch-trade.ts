import type { Principal } from "../../accounts/port.ts";
import type { Landing } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Now } from "../../primitives/clock.ts";
import type { SubmittedTrade, TradeEvent, TradeStatus, WatchedTrade } from "../trade.ts";
import type { Attempt } from "./attempt/attempt.ts";
import type { Attempts } from "./attempts.ts";
import type { TradeFinder } from "./find-trade.ts";
import { answerOf } from "./outcome/outcome.ts";
import { settledOrAborted, sleep } from "./waiting.ts";

/** Pause between look-ups of a trade that this process does not drive, or that is not finalized yet. Milliseconds. */
const POLL_MS = 400;

/** Pauses after which a trade is looked up although slot notices do not show its slot as final: a node's notices may lag. */
const MOST_QUIET_TURNS = 5;

/** Look-ups in a row that may miss a trade: a failover has lost its record, and the process that follows it writes it again within seconds. */
const MOST_MISSES = 40;

/** What watching a trade reads. */
interface WatchPorts {
  readonly landing: Pick<Landing, "mayBeFinal">;
  readonly attempts: Attempts;
  readonly finder: TradeFinder;
  readonly now: Now;
}

/**
 * A trade of this account now and after every change, until it is finalized or `signal` aborts. The status only moves
 * forward: a lagging node or a dropped block takes nothing back.
 *
 * @throws TradewireError TRADE_NOT_FOUND, or the error the trade failed with
 */
export async function* watchTrade(
  { landing, attempts, finder, now }: WatchPorts,
  principal: Principal,
  signature: string,
  signal: AbortSignal,
): AsyncGenerator<WatchedTrade> {
  const messageHash = await finder.messageHashOf(principal, signature);
  const sent = new SentAnswers(signature);
  for (let misses = 0; !signal.aborted; ) {
    const held = attempts.byMessage(messageHash);
    const attempt = held?.isElsewhere === true ? undefined : held;
    const isRunning = attempt !== undefined && !attempt.isSettled;
    const change = attempt?.progress.changed;
    const events = attempt === undefined ? [] : sent.takeEvents(attempt.progress.events);
    // The last events are sent before the failure, if the trade failed, or together with its amounts, if it landed.
    if (attempt !== undefined && !isRunning && events.length > 0) {
      // A stream that joins now starts from the trade's state on the chain, because this process may know less than a look-up shows.
      const late =
        sent.status === undefined ? await finder.find(principal, signature).catch(() => undefined) : undefined;
      if (late?.status === "finalized") yield sent.answer(late, [...events, ...statusEvents(late, now())]);
      else yield sent.answer(settledTrade(attempt), events);
    }
    const trade = isRunning ? attempt.progress.trade : await findKnown(finder, principal, signature, misses);
    misses = trade === undefined ? misses + 1 : 0;
    if (trade === undefined) {
      await sleep(POLL_MS, signal);
      continue;
    }
    if (isRunning) {
      if (sent.isNew(trade) || events.length > 0) yield sent.answer(trade, events);
    } else if (sent.isNew(trade)) {
      const isNewStatus = sent.status !== trade.status && (attempt === undefined || trade.status === "finalized");
      yield sent.answer(trade, isNewStatus ? statusEvents(trade, now()) : []);
    }
    if (trade.status === "finalized") return;
    await (change !== undefined && isRunning ? settledOrAborted(change, signal) : untilLook(landing, trade, signal));
  }
}

/** A trade that was found before; undefined if it is missing for the moment. @throws TradewireError as `find` */
async function findKnown(
  finder: TradeFinder,
  principal: Principal,
  signature: string,
  misses: number,
): Promise<SubmittedTrade | undefined> {
  try {
    return await finder.find(principal, signature);
  } catch (error) {
    if (error instanceof TradewireError && error.code === "TRADE_NOT_FOUND" && misses < MOST_MISSES) return undefined;
    throw error;
  }
}

/** Waits until a look-up of the trade may show more than the last one. A trade with its amounts waits only for finality. */
async function untilLook(
  landing: WatchPorts["landing"],
  { slot, result }: SubmittedTrade,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = 1; turn <= MOST_QUIET_TURNS && !signal.aborted; turn++) {
    await sleep(POLL_MS, signal);
    if (slot === undefined || result === undefined || landing.mayBeFinal(slot)) return;
  }
}

/** The order in which a trade moves. */
const STATUSES: readonly TradeStatus[] = ["pending", "processed", "confirmed", "finalized"];

const isAhead = (one: SubmittedTrade, other: SubmittedTrade): boolean =>
  STATUSES.indexOf(one.status) > STATUSES.indexOf(other.status);

/** What one stream has sent so far. */
class SentAnswers {
  readonly #signature: string;
  #events = 0;
  #last: SubmittedTrade | undefined;

  /** @param signature the one that the trade is asked for by: of several, another may land */
  constructor(signature: string) {
    this.#signature = signature;
  }

  get status(): TradeStatus | undefined {
    return this.#last?.status;
  }

  /** The events since the previous call. */
  takeEvents(all: readonly TradeEvent[]): readonly TradeEvent[] {
    const events = all.slice(this.#events);
    this.#events = all.length;
    return events;
  }

  /** True if the trade is further than the last one sent, or has its amounts, or lost its block, for the first time. */
  isNew(trade: SubmittedTrade): boolean {
    const last = this.#last;
    if (last === undefined || isAhead(trade, last)) return true;
    if (trade.result === undefined) return false;
    return last.result === undefined || (last.pendingReason === undefined && trade.pendingReason !== undefined);
  }

  /** The trade to send. A process that has just taken it over knows less about it than was sent before. */
  answer(trade: SubmittedTrade, events: readonly TradeEvent[]): WatchedTrade {
    const last = this.#last;
    const isBehind = last !== undefined && isAhead(last, trade);
    this.#last = isBehind ? { ...trade, status: last.status, slot: last.slot } : trade;
    return { ...this.#last, signature: this.#signature, events };
  }
}

/** The trade of a settled attempt; without amounts if it failed. */
function settledTrade({ sealed, outcome, progress }: Attempt): SubmittedTrade {
  return outcome?.kind === "landed" ? answerOf(sealed, progress.trade.signature, outcome) : progress.trade;
}

/** The event that a status stands for, for a trade whose own events are in another process. */
function statusEvents({ status, slot }: SubmittedTrade, atMs: number): readonly TradeEvent[] {
  return status === "pending" ? [] : [{ kind: status, atMs, ...(slot === undefined ? {} : { slot }) }];
}
