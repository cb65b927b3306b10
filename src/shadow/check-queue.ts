import type { ReadAccounts } from "./shared-read.ts";

/** How a check without haste is made. */
export interface Routine {
  /** True: only if the budget of processor time allows. */
  readonly isSample: boolean;
  /** Accounts read together with those of other markets; undefined: it reads its own. */
  readonly accounts?: ReadAccounts | undefined;
}

/** Checks made at the same time: while one waits for the node, another runs. */
const AT_ONCE = 3;

/** What is to be checked next: each thing once, in the order added. */
export class CheckQueue<T> {
  readonly #run: (one: T, routine: Routine | undefined) => Promise<void>;
  readonly #waiting = new Map<T, Routine | undefined>();
  readonly #running = new Map<T, Routine | undefined>();
  #isClosed = false;

  constructor(run: (one: T, routine: Routine | undefined) => Promise<void>) {
    this.#run = run;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0;
  }

  /** How many wait or run. */
  get size(): number {
    return this.#waiting.size + this.#running.size;
  }

  /**
   * Adds a check. One that is running is made again after it: it may have begun before the reason.
   *
   * @param routine undefined if the check is urgent, which it stays whatever is added later
   */
  add(one: T, routine?: Routine): void {
    const isUrgent = this.#waiting.has(one) && this.#waiting.get(one) === undefined;
    this.#waiting.set(one, isUrgent ? undefined : routine);
    this.#next();
  }

  delete(one: T): void {
    this.#waiting.delete(one);
  }

  /** Drops the samples that wait: there is no processor time for them now. */
  dropSamples(): void {
    for (const [one, routine] of this.#waiting)
      if (routine?.isSample === true && routine.accounts !== undefined) this.#waiting.delete(one);
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #next(): void {
    for (const [one, routine] of this.#waiting) {
      if (this.#isClosed || this.#running.size >= AT_ONCE) return;
      if (this.#running.has(one) || (isShared(routine) && this.#runsShared())) continue;
      this.#waiting.delete(one);
      this.#running.set(one, routine);
      void this.#run(one, routine).finally(() => {
        this.#running.delete(one);
        this.#next();
      });
    }
  }

  /** Those that were read together are checked one by one, so that an urgent check waits for one of them at most. */
  #runsShared(): boolean {
    return [...this.#running.values()].some(isShared);
  }
}

function isShared(routine: Routine | undefined): boolean {
  return routine?.accounts !== undefined;
}
