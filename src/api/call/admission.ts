import type { ServerResponse } from "node:http";
import { nextTick } from "node:process";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { closePass, MOST_IN_PASS, openPass, runPasses } from "../../primitives/turns/pass.ts";
import { isConnected } from "../http/open-response.ts";
import type { AdmissionSettings } from "../settings.ts";
import type { CallKind } from "./access.ts";
import { RefusalPace } from "./refusal-pace.ts";

const RETRY_AFTER_MS = 1_000;

/** Builds that may always wait, so that a pause of the whole process does not look like overload. */
const LEAST_WAITING = 8;

/** Started builds kept at the front of the queue before it is compacted. */
const COMPACT_AFTER = 1_024;

/** Weight of the moving average of the time between two starts: about this many starts. */
const AVERAGED = 16;
/** A single sample counts as at most this many times the average. */
const OUTLIER = 4;

/**
 * Sheds load: refuses work that cannot be done in time, builds long before submits. A refused build can be requested again; a signed
 * transaction expires.
 *
 * Builds are CPU-bound and block the event loop, so they share a time slice in each turn of it. Builds beyond the slice queue for the next
 * turns; submits, refusals and new connections run in between. A build that would queue longer than it may wait is refused at once.
 */
export class Admission {
  readonly #settings: AdmissionSettings;
  readonly #nowMs: () => number;
  #builds = 0;
  #submits = 0;
  #shed = 0;
  #turnStartMs: number | undefined;
  /** Starts each queued build. */
  #queue: (() => void)[] = [];
  /** Builds at the front of the queue that have been started. */
  #started = 0;
  /** Average time between two starts from the queue, including everything that ran in between. */
  #paceMs = 0;
  #lastStartMs: number | undefined;
  /** Builds that the last pass of the queue started. */
  #lastStarted = 1;
  /** Duration of a build of that pass; infinite before the first one. Milliseconds. */
  #buildMs = Number.POSITIVE_INFINITY;
  /** Paces the responses to refused builds. */
  readonly refusals: RefusalPace;
  /** The error of a refused build. */
  readonly buildRefusal = overloaded("The service is receiving more builds than it can make in time.");

  /** @param nowMs a monotonic clock */
  constructor(settings: AdmissionSettings, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
    this.refusals = new RefusalPace(nowMs);
  }

  /**
   * Admits a call; `leave` must follow when it ends. Returns a promise if the call has to wait for its turn. If the promise
   * rejects or this throws, the call was not admitted.
   * @param response what the client waits for, if that is known
   * @throws TradewireError OVERLOADED
   */
  enter(kind: CallKind, response?: ServerResponse): Promise<void> | undefined {
    if (kind === "submit") {
      if (this.#submits >= this.#settings.submitsAtOnce) {
        this.#shed++;
        throw overloaded("Too many submits are in flight.");
      }
      this.#submits++;
    } else if (kind === "build") {
      if (this.refusesBuild()) {
        const due = this.refusals.next("", response);
        if (due === undefined) throw this.refuseBuild();
        return this.#enterAfter(due, response);
      }
      this.#builds++;
      const nowMs = this.#nowMs();
      if (this.#started === this.#queue.length && this.#hasTime(nowMs)) return undefined;
      return this.#nextTurn();
    }
    return undefined;
  }

  /**
   * A function of its own, like everything that awaits: a function with a closure allocates for it on every call, even if it never uses it.
   */
  #nextTurn(): Promise<void> {
    return new Promise((start) => {
      this.#queue.push(start);
    });
  }

  #enterAfter(due: Promise<void>, response: ServerResponse | undefined): Promise<void> {
    return due.then(() => {
      const isGone = response !== undefined && !isConnected(response);
      if (isGone || this.refusesBuild()) throw this.refuseBuild();
      return this.enter("build", response);
    });
  }

  /** True if a build that arrives now is refused. */
  refusesBuild(): boolean {
    return this.#builds >= this.#settings.buildsAtOnce || this.#isLate();
  }

  /** Counts a refused build and returns its error. */
  refuseBuild(): TradewireError {
    this.#shed++;
    return this.buildRefusal;
  }

  /** Ends an admitted call. */
  leave(kind: CallKind): void {
    if (kind === "submit") this.#submits--;
    else if (kind === "build") this.#builds--;
  }

  /** Counts for metrics: calls in flight, and calls refused so far. */
  state(): { readonly builds: number; readonly submits: number; readonly shed: number } {
    return { builds: this.#builds, submits: this.#submits, shed: this.#shed };
  }

  #isLate(): boolean {
    const waiting = this.#queue.length - this.#started;
    return waiting >= LEAST_WAITING && waiting * this.#paceMs > this.#settings.buildWaitMs;
  }

  /** True while the builds' time slice of this turn of the event loop lasts. */
  #hasTime(nowMs: number): boolean {
    if (this.#turnStartMs !== undefined) return nowMs - this.#turnStartMs < this.#settings.buildTurnMs;
    this.#turnStartMs = nowMs;
    setImmediate(this.#endTurn);
    return true;
  }

  readonly #endTurn = (): void => {
    this.#turnStartMs = undefined;
    // Requests read meanwhile have waited for one turn's builds, and may have started those of this turn.
    runPasses();
    if (this.#turnStartMs !== undefined || this.#started === this.#queue.length) return;
    this.#startNext(this.#nowMs() + this.#settings.buildTurnMs);
  };

  /** Starts builds of the queue as one pass, as many as the slice has time for. */
  #startNext(untilMs: number): void {
    this.#keepPace();
    openPass();
    const nowMs = this.#nowMs();
    const inTime = this.#buildMs > 0 ? Math.floor((untilMs - nowMs) / this.#buildMs) : MOST_IN_PASS;
    const last = Math.min(this.#queue.length, this.#started + Math.max(1, Math.min(inTime, MOST_IN_PASS)));
    const count = last - this.#started;
    this.#lastStarted = count;
    while (this.#started < last) this.#queue[this.#started++]!();
    const isEmpty = this.#started === this.#queue.length;
    if (isEmpty || this.#started >= COMPACT_AFTER) {
      this.#queue = this.#queue.slice(this.#started);
      this.#started = 0;
    }
    if (isEmpty) {
      this.#lastStartMs = undefined;
      this.refusals.release();
    }
    // The builds enter the pass in the promise jobs queued now; the next tick comes after all of them.
    queueMicrotask(() =>
      nextTick(() => {
        closePass();
        const endMs = this.#nowMs();
        this.#buildMs = (endMs - nowMs) / count;
        if (isEmpty) return;
        if (endMs < untilMs) this.#startNext(untilMs);
        else setImmediate(this.#endTurn);
      }),
    );
  }

  #keepPace(): void {
    const nowMs = this.#nowMs();
    if (this.#lastStartMs !== undefined) {
      const stepMs = (nowMs - this.#lastStartMs) / this.#lastStarted;
      const bounded = this.#paceMs === 0 ? stepMs : Math.min(stepMs, OUTLIER * this.#paceMs);
      this.#paceMs += ((bounded - this.#paceMs) * Math.min(this.#lastStarted, AVERAGED)) / AVERAGED;
    }
    this.#lastStartMs = nowMs;
  }
}

function overloaded(reason: string): TradewireError {
  return new TradewireError("OVERLOADED", `${reason} Retry after the time in Retry-After.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
