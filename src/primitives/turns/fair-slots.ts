/** Bounds how many pieces of work run at a time. Those who wait take turns: however many one of them adds, the others wait no longer. */
export class FairSlots {
  #free: number;
  /** Work that waits, by whose it is; the next one first, both among them and within each. */
  readonly #lines = new Map<string, (() => void)[]>();

  /** @param atOnce pieces that run at a time */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Does the work when its turn comes. @throws what `work` throws */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((begin) => this.#wait(owner, begin));
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #wait(owner: string, begin: () => void): void {
    const line = this.#lines.get(owner);
    if (line === undefined) this.#lines.set(owner, [begin]);
    else line.push(begin);
  }

  /** Passes a slot on to the next one. */
  #pass(): void {
    for (const [owner, line] of this.#lines) {
      const begin = line.shift()!;
      this.#lines.delete(owner);
      if (line.length > 0) this.#lines.set(owner, line);
      begin();
      return;
    }
    this.#free += 1;
  }
}
