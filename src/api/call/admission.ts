import { nextTick } from "node:process";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { AdmissionSettings } from "../settings.ts";
import type { CallKind } from "./rate-limits.ts";
import { RefusalPace } from "./refusal-pace.ts";

const RETRY_AFTER_MS = 1_000;

/** Builds that may always wait, so that a pause of the whole process is not taken for overload. */
const LEAST_WAITING = 8;

/** How many that have had their turn stay at the front of the line before it is cut. */
const LINE_REST = 1_024;

/** The time from one build in line to the next is averaged over about so many; one alone counts as this many times the average at most. */
const AVERAGED = 16;
const OUTLIER = 4;

/**
 * Refuses work while there is more of it than can be done in time, builds long before submits: a build that is refused can
 * be asked for again, a signed transaction runs out.
 *
 * Builds that are ready run one after another and keep everything else waiting. In each turn of the event loop they have a
 * slice of time; those that come after it wait in line for the next turns, and submits, refusals and new connections go in
 * between. Newcomers are refused at once where the line is longer than can be worked off while a build may wait.
 */
export class Admission {
  readonly #settings: AdmissionSettings;
  readonly #nowMs: () => number;
  #builds = 0;
  #submits = 0;
  #shed = 0;
  #turnStartMs: number | undefined;
  /** What starts each build that waits. */
  #line: (() => void)[] = [];
  /** How many at the front of the line have had their turn. */
  #served = 0;
  /** From one start out of the line to the next, everything in between included; on average, and when the last one was. */
  #paceMs = 0;
  #startedMs: number | undefined;
  /** When refused builds are answered. */
  readonly refusals: RefusalPace;
  /** What a refused build is told. */
  readonly buildRefusal = overloaded("More builds are asked for than can be made in time.");

  /** @param nowMs a monotonic clock */
  constructor(settings: AdmissionSettings, nowMs: () => number) {
    this.#settings = settings;
    this.#nowMs = nowMs;
    this.refusals = new RefusalPace(nowMs);
  }

  /**
   * Lets a call in; `leave` must follow when it has ended. A promise stands for its turn; without one it is now. One that
   * rejects was not let in.
   * @throws TradewireError OVERLOADED
   */
  enter(kind: CallKind): Promise<void> | undefined {
    if (kind === "submit") {
      if (this.#submits >= this.#settings.submitsAtOnce) {
        this.#shed++;
        throw overloaded("Too many submits are under way.");
      }
      this.#submits++;
    } else if (kind === "build") {
      if (this.refusesBuild()) {
        const due = this.refusals.next();
        if (due === undefined) throw this.refuseBuild();
        return due.then(() => {
          if (this.refusesBuild()) throw this.refuseBuild();
          return this.enter("build");
        });
      }
      this.#builds++;
      const nowMs = this.#nowMs();
      if (this.#served === this.#line.length && this.#hasTime(nowMs)) return undefined;
      return new Promise((start) => {
        this.#line.push(start);
      });
    }
    return undefined;
  }

  /** True when a build that comes now is refused. */
  refusesBuild(): boolean {
    return this.#builds >= this.#settings.buildsAtOnce || this.#isLate();
  }

  /** Counts a build that is refused, and returns what it is told. */
  refuseBuild(): TradewireError {
    this.#shed++;
    return this.buildRefusal;
  }

  leave(kind: CallKind): void {
    if (kind === "submit") this.#submits--;
    else if (kind === "build") this.#builds--;
  }

  /** For metrics. */
  state(): { readonly builds: number; readonly submits: number; readonly shed: number } {
    return { builds: this.#builds, submits: this.#submits, shed: this.#shed };
  }

  #isLate(): boolean {
    const waiting = this.#line.length - this.#served;
    return waiting >= LEAST_WAITING && waiting * this.#paceMs > this.#settings.buildWaitMs;
  }

  /** True while builds have time left in this turn of the loop. */
  #hasTime(nowMs: number): boolean {
    if (this.#turnStartMs !== undefined) return nowMs - this.#turnStartMs < this.#settings.buildTurnMs;
    this.#turnStartMs = nowMs;
    setImmediate(this.#endTurn);
    return true;
  }

  readonly #endTurn = (): void => {
    this.#turnStartMs = undefined;
    if (this.#served < this.#line.length) this.#startNext(this.#nowMs() + this.#settings.buildTurnMs);
  };

  #startNext(untilMs: number): void {
    this.#keepPace();
    this.#line[this.#served++]!();
    const isEmpty = this.#served === this.#line.length;
    if (isEmpty || this.#served === LINE_REST) {
      this.#line = this.#line.slice(this.#served);
      this.#served = 0;
    }
    if (isEmpty) {
      this.#startedMs = undefined;
      this.refusals.callBack();
      return;
    }
    // What was started runs in the promise jobs that are due now, and a tick comes after all of them.
    queueMicrotask(() =>
      nextTick(() => {
        if (this.#nowMs() < untilMs) this.#startNext(untilMs);
        else setImmediate(this.#endTurn);
      }),
    );
  }

  #keepPace(): void {
    const nowMs = this.#nowMs();
    if (this.#startedMs !== undefined) {
      const stepMs = nowMs - this.#startedMs;
      this.#paceMs +=
        ((this.#paceMs === 0 ? stepMs : Math.min(stepMs, OUTLIER * this.#paceMs)) - this.#paceMs) / AVERAGED;
    }
    this.#startedMs = nowMs;
  }
}

function overloaded(reason: string): TradewireError {
  return new TradewireError("OVERLOADED", `${reason} Wait as Retry-After says.`, { retryAfterMs: RETRY_AFTER_MS });
}
