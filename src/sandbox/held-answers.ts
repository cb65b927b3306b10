/** Answers that promise what reads show only once the open slot is sealed: they are held back until then. */
export class HeldAnswers {
  readonly #onHeld: () => void;
  readonly #waiting: (() => void)[] = [];
  #isHeld = false;

  /** @param onHeld called after an answer was held */
  constructor(onHeld: () => void) {
    this.#onHeld = onHeld;
  }

  /** Holds back the answer to the call that is being performed. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Sends the answer to the calls just performed: at once, or if one of them held it, with the next `release`. */
  deliver(send: () => void): void {
    if (this.#isHeld) {
      this.#isHeld = false;
      this.#waiting.push(send);
      this.#onHeld();
    } else send();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** The open slot was sealed: sends what was held. */
  release(): void {
    for (const send of this.#waiting.splice(0)) send();
  }
}
