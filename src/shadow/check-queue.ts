/** Checks made at the same time: while one waits for the node, another runs. */
const AT_ONCE = 3;

/** What is to be checked next: each thing once, in the order added. */
export class CheckQueue<T> {
  readonly #run: (one: T, isSample: boolean) => Promise<void>;
  readonly #waiting = new Map<T, boolean>();
  readonly #running = new Set<T>();
  #isClosed = false;

  constructor(run: (one: T, isSample: boolean) => Promise<void>) {
    this.#run = run;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0;
  }

  /** How many wait or run. */
  get size(): number {
    return this.#waiting.size + this.#running.size;
  }

  /** Adds a check. One that is running is made again after it: it may have begun before the reason. */
  add(one: T, isSample = false): void {
    this.#waiting.set(one, isSample && (this.#waiting.get(one) ?? true));
    this.#next();
  }

  delete(one: T): void {
    this.#waiting.delete(one);
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #next(): void {
    for (const [one, isSample] of this.#waiting) {
      if (this.#isClosed || this.#running.size >= AT_ONCE) return;
      if (this.#running.has(one)) continue;
      this.#waiting.delete(one);
      this.#running.add(one);
      void this.#run(one, isSample).finally(() => {
        this.#running.delete(one);
        this.#next();
      });
    }
  }
}
