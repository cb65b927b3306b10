import { setImmediate } from "node:timers";

/**
 * Pieces of work that nobody is in a hurry for, one in each turn of the event loop, however many are waiting: what others ask for
 * meanwhile waits for one piece, not for all of them.
 */
export class OneATurn {
  readonly #waiting: (() => void)[] = [];
  #isOn = false;

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
    const next = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#turn);
    else this.#isOn = false;
    next?.();
  };
}
