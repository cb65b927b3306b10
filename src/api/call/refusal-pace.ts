/** Refusals a second: about a tenth of the process's time. */
const PER_SECOND = 3_000;
/** Refusals sent at once before pacing starts. */
const BURST = 300;
const INTERVAL_MS = 1_000 / PER_SECOND;
/** Upper bound of waiting refusals; the rest are sent at once. */
const WAITING = 10_000;
/** Waiting refusals released at a time once there is room. */
const RELEASED = 64;
const CHECK_EVERY_MS = 2;

/**
 * Paces refusals. Clients that retry the moment they are refused would leave no time for other work; a delayed refusal holds
 * back their next attempt.
 */
export class RefusalPace {
  readonly #nowMs: () => number;
  /** When the pace has room again for all refusals so far. */
  #paidMs = 0;
  #waiting: { readonly dueMs: number; readonly answer: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts one more refusal if it is due now. Returns false, with nothing counted, if it is not. */
  takeDue(): boolean {
    const nowMs = this.#nowMs();
    const paidMs = Math.max(this.#paidMs, nowMs) + INTERVAL_MS;
    if (paidMs - BURST * INTERVAL_MS > nowMs) return false;
    this.#paidMs = paidMs;
    return true;
  }

  /** Resolves when one more refusal is due; undefined if it is due now. */
  next(): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    const paidMs = Math.max(this.#paidMs, nowMs) + INTERVAL_MS;
    const dueMs = paidMs - BURST * INTERVAL_MS;
    if (dueMs > nowMs && this.#waiting.length >= WAITING) return undefined;
    this.#paidMs = paidMs;
    if (dueMs <= nowMs) return undefined;
    return new Promise((answer) => {
      this.#waiting.push({ dueMs, answer });
      this.#timer ??= setInterval(this.#check, CHECK_EVERY_MS);
    });
  }

  /** Releases some of the waiting refusals early: there is room to serve their requests after all. */
  release(): void {
    for (const { answer } of this.#waiting.splice(0, RELEASED)) answer();
  }

  readonly #check = (): void => {
    const nowMs = this.#nowMs();
    const later = this.#waiting.findIndex(({ dueMs }) => dueMs > nowMs);
    const due = this.#waiting.splice(0, later === -1 ? this.#waiting.length : later);
    for (const { answer } of due) answer();
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
