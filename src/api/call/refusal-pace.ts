/** About a tenth of a process's time, and how many may come at once. */
const PER_SECOND = 3_000;
const AT_ONCE = 300;
const INTERVAL_MS = 1_000 / PER_SECOND;
/** How many may be waiting; whatever comes beyond is answered at once. */
const WAITING = 10_000;
/** How many of them are called back at a time. */
const CALLED_BACK = 64;
const LOOK_EVERY_MS = 2;

/**
 * When refusals are answered. Callers who ask again as soon as they are refused would otherwise leave no time for what is
 * served; here they wait for their answers, and ask no more until then.
 */
export class RefusalPace {
  readonly #nowMs: () => number;
  /** When the last refusal so far is paid for. */
  #paidMs = 0;
  #waiting: { readonly dueMs: number; readonly answer: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** When one more refusal is due: when the promise resolves, or now where there is none. */
  next(): Promise<void> | undefined {
    const nowMs = this.#nowMs();
    const paidMs = Math.max(this.#paidMs, nowMs) + INTERVAL_MS;
    const dueMs = paidMs - AT_ONCE * INTERVAL_MS;
    if (dueMs > nowMs && this.#waiting.length >= WAITING) return undefined;
    this.#paidMs = paidMs;
    if (dueMs <= nowMs) return undefined;
    return new Promise((answer) => {
      this.#waiting.push({ dueMs, answer });
      this.#timer ??= setInterval(this.#look, LOOK_EVERY_MS);
    });
  }

  /** Some of those that wait are due now: there is room for them after all. */
  callBack(): void {
    for (const { answer } of this.#waiting.splice(0, CALLED_BACK)) answer();
  }

  readonly #look = (): void => {
    const nowMs = this.#nowMs();
    const later = this.#waiting.findIndex(({ dueMs }) => dueMs > nowMs);
    const due = this.#waiting.splice(0, later === -1 ? this.#waiting.length : later);
    for (const { answer } of due) answer();
    if (this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
