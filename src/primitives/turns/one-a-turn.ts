import { nextTick } from "node:process";
import { setImmediate } from "node:timers";
import { monotonicMs } from "../clock.ts";
import { runPasses } from "./pass.ts";

/** Turns in a row in which calls go before pieces. */
const LEFT_TO_CALLS = 3;
/** Wait after which a piece is late: calls no longer go first, and late pieces share a turn. Milliseconds. */
const LATE_MS = 50;
const LATE_IN_TURN = 8;

interface Waiting {
  readonly begin: () => void;
  readonly sinceMs: number;
}

/**
 * Runs pieces of work that can wait, one in each turn of the event loop, so that a call waits for one piece and not for all of them.
 * Calls that a turn has read go first: a piece waits for a turn without calls, or for the fourth. In a process that has too much to
 * do, turns are long and pieces would wait for ever: up to eight late ones share a turn.
 */
export class OneATurn {
  readonly #waiting: Waiting[] = [];
  #isOn = false;
  #left = 0;

  /** Resolves in a turn of its own, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((begin) => this.run(begin));
  }

  /** Begins a piece in a turn of its own, in the order of the calls. Its error is an uncaught exception. */
  run(begin: () => void): void {
    this.#waiting.push({ begin, sinceMs: monotonicMs() });
    if (this.#isOn) return;
    this.#isOn = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    const servedCalls = runPasses();
    const lateMs = monotonicMs() - LATE_MS;
    const isLate = (): boolean => this.#waiting.length > 0 && this.#waiting[0]!.sinceMs < lateMs;
    if (servedCalls && this.#left < LEFT_TO_CALLS && !isLate()) {
      this.#left++;
      setImmediate(this.#turn);
      return;
    }
    this.#left = 0;
    this.#beginNext();
    for (let left = LATE_IN_TURN - 1; left > 0 && isLate(); left--) this.#beginNext();
    if (this.#waiting.length > 0) setImmediate(this.#turn);
    else this.#isOn = false;
  };

  #beginNext(): void {
    try {
      this.#waiting.shift()?.begin();
    } catch (error) {
      // Those that wait go on.
      nextTick(() => {
        throw error;
      });
    }
  }
}
