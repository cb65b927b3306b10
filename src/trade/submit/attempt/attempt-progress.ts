import type { LandingEvent } from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { SubmitStage, SubmittedTrade, TradeEvent } from "../../trade.ts";
import type { AttemptWatch } from "../diagnosis/attempt-watch.ts";

/** Progress of an attempt: the trade's current state, its events, and when the stages of its submit ended. */
export class AttemptProgress {
  readonly #now: Now;
  #trade: SubmittedTrade;
  readonly #events: TradeEvent[] = [];
  readonly #stageEnds: [SubmitStage, number][] = [];
  /** Undefined while nobody waits for a change. */
  #changed: PromiseWithResolvers<void> | undefined;
  #isClosed = false;

  readonly #watch: Pick<AttemptWatch, "receive"> | undefined;

  /** @param watch receives every event too */
  constructor(trade: SubmittedTrade, now: Now, watch?: Pick<AttemptWatch, "receive">) {
    this.#trade = trade;
    this.#now = now;
    this.#watch = watch;
  }

  /** The trade as it stands. Its result and failure come with the outcome. */
  get trade(): SubmittedTrade {
    return this.#trade;
  }

  /** The events so far, in order. */
  get events(): readonly TradeEvent[] {
    return this.#events;
  }

  /** When stages ended in this process, in order. Epoch milliseconds. */
  get stageEnds(): readonly (readonly [stage: SubmitStage, atMs: number])[] {
    return this.#stageEnds;
  }

  /** Resolves at the next change; at once after `close`. */
  get changed(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#changed ??= Promise.withResolvers();
    return this.#changed.promise;
  }

  /** Changes the trade and resolves all waits for a change. */
  update(change: Partial<SubmittedTrade>): void {
    this.#trade = { ...this.#trade, ...change };
    const changed = this.#changed;
    this.#changed = undefined;
    changed?.resolve();
  }

  /** Records an event of the broadcast; an event of a block also advances the trade. */
  receive(event: LandingEvent): void {
    this.record(event);
    this.update(event.kind === "processed" ? { status: "processed", slot: event.slot } : {});
  }

  /** Records an event. The first `sent` ends the broadcast stage. */
  record(event: Omit<TradeEvent, "atMs">): void {
    if (event.kind === "sent" && !this.#stageEnds.some(([stage]) => stage === "broadcast")) this.endStage("broadcast");
    this.#events.push({ ...event, atMs: this.#now() });
    this.#watch?.receive(event);
  }

  endStage(stage: SubmitStage): void {
    this.#stageEnds.push([stage, this.#now()]);
  }

  /** Ends all waits: no change follows. */
  close(): void {
    this.#isClosed = true;
    this.#changed?.resolve();
  }
}
