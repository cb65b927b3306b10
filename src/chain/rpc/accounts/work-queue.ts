/** Runs work in the order it comes, up to a number of pieces at once. */
export class WorkQueue {
  readonly #maxConcurrent: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxConcurrent: number) {
    this.#maxConcurrent = maxConcurrent;
  }

  /** Runs the work when its turn comes. @returns what the work returns */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxConcurrent) this.#running += 1;
    else await new Promise<void>((start) => void this.#waiting.push(start));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // Finished work hands its place to the next in line.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
