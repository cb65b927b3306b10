import type { ServerResponse } from "node:http";
import { onDisconnect } from "../http/open-response.ts";

/** Refusals a second: about a tenth of the process's time. */
const PER_SECOND = 3_000;
/** Refusals sent at once before pacing starts. */
const BURST = 300;
const INTERVAL_MS = 1_000 / PER_SECOND;
const BURST_MS = BURST * INTERVAL_MS;
/** Upper bound of waiting refusals; the rest are sent at once. */
const WAITING = 10_000;
/** Waiting refusals released at a time once there is room. */
const RELEASED = 64;
const CHECK_EVERY_MS = 2;
/** Due refusals answered at a time: after a pause of the process, thousands of them would hold up other work. */
const ANSWERED = 256;

/** Answers a refusal that waits. */
type Waiting = () => void;

/**
 * Paces refusals. Clients that retry the moment they are refused would leave no time for other work; a delayed refusal holds back their
 * next attempt. Callers take turns: many refusals of one caller delay only its own.
 */
export class RefusalPace {
  readonly #nowMs: () => number;
  /** When the pace has room again for all refusals so far. */
  #paidMs = 0;
  /** By caller, next first. */
  readonly #lines = new Map<string, Set<Waiting>>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts one more refusal if it is due now. Returns false, with nothing counted, if it is not. */
  takeDue(): boolean {
    const nowMs = this.#nowMs();
    const paidMs = Math.max(this.#paidMs, nowMs) + INTERVAL_MS;
    if (paidMs - BURST_MS > nowMs) return false;
    this.#paidMs = paidMs;
    return true;
  }

  /**
   * Resolves when one more refusal is due, or when its client is gone, which frees its place; undefined if it is due now.
   *
   * @param caller whose it is; empty: anybody's
   * @param response what the client waits for, if that is known
   */
  next(caller: string, response: ServerResponse | undefined): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    const paidMs = Math.max(this.#paidMs, nowMs) + INTERVAL_MS;
    const isDue = paidMs - BURST_MS <= nowMs;
    if (!isDue && this.#count >= WAITING) return undefined;
    this.#paidMs = paidMs;
    if (isDue) return undefined;
    return new Promise((resolve) => {
      const stopWatching = response && onDisconnect(response, () => this.#drop(caller, answer));
      const answer = () => {
        stopWatching?.();
        resolve();
      };
      this.#add(caller, answer);
      this.#timer ??= setInterval(this.#check, CHECK_EVERY_MS);
    });
  }

  /** Releases some of the waiting refusals early: there is room to serve their requests after all. */
  release(): void {
    this.#answer(RELEASED);
  }

  #add(caller: string, waiting: Waiting): void {
    this.#count++;
    const line = this.#lines.get(caller);
    if (line === undefined) this.#lines.set(caller, new Set([waiting]));
    else line.add(waiting);
  }

  /** Answers a refusal whose client is gone, and returns its share of the pace: nobody reads it. */
  #drop(caller: string, waiting: Waiting): void {
    const line = this.#lines.get(caller);
    if (line?.delete(waiting) !== true) return;
    if (line.size === 0) this.#lines.delete(caller);
    this.#count--;
    this.#paidMs -= INTERVAL_MS;
    waiting();
  }

  #answer(most: number): void {
    let left = most;
    if (left <= 0) return;
    // A line that is put back comes up again after the others.
    for (const [caller, line] of this.#lines) {
      const [waiting] = line as Iterable<Waiting> as [Waiting];
      line.delete(waiting);
      this.#lines.delete(caller);
      if (line.size > 0) this.#lines.set(caller, line);
      this.#count--;
      waiting();
      left--;
      if (left === 0) return;
    }
  }

  readonly #check = (): void => {
    const notDue = Math.max(0, Math.ceil((this.#paidMs - BURST_MS - this.#nowMs()) / INTERVAL_MS));
    this.#answer(Math.min(ANSWERED, this.#count - notDue));
    if (this.#count > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
