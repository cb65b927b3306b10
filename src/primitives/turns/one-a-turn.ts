import { setImmediate } from "node:timers";
import { runPasses } from "./pass.ts";

/** Turns in a row that are left to calls. */
const LEFT_TO_CALLS = 3;

/**
 * Pieces of work that nobody is in a hurry for, one in each turn of the event loop, however many are waiting: what others ask for
 * meanwhile waits for one piece, not for all of them. Calls that the turn has read are served before its piece, which waits for a turn
 * without calls, or the fourth.
 */
export class OneATurn {
  readonly #waiting: (() => void)[] = [];
  #isOn = false;
  #left = 0;

  /** Resolves in a turn of its own, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isOn) return;
      this.#isOn = true;
      setImmediate(this.#turn);
    });
  }

  readonly #turn = (): void => {
    if (runPasses() && this.#left < LEFT_TO_CALLS) {
      this.#left++;
      setImmediate(this.#turn);
      return;
    }
    this.#left = 0;
    const next = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#turn);
    else this.#isOn = false;
    next?.();
  };
}
