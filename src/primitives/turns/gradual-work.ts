/** Does something to many items, a bounded number per turn of the loop. Few items are done at once; order is not promised. */
export class GradualWork<T> {
  readonly #work: (item: T) => void;
  readonly #perTurn: number;
  readonly #lists: T[][] = [];
  #next: NodeJS.Immediate | undefined;
  #isWorking = false;

  constructor(work: (item: T) => void, perTurn: number) {
    this.#work = work;
    this.#perTurn = perTurn;
  }

  /** Adds items, and does as many as fit if nothing else waits. The list is emptied on the way. */
  add(items: T[]): void {
    this.#lists.push(items);
    if (this.#next === undefined && !this.#isWorking) this.#turn();
  }

  clear(): void {
    clearImmediate(this.#next);
    this.#next = undefined;
    this.#lists.length = 0;
  }

  #turn(): void {
    this.#next = undefined;
    this.#isWorking = true;
    try {
      this.#workOn(this.#perTurn);
    } finally {
      this.#isWorking = false;
      if (this.#lists.length > 0) this.#next = setImmediate(() => this.#turn());
    }
  }

  #workOn(count: number): void {
    for (let left = count; left > 0; left--) {
      while (this.#lists.at(-1)?.length === 0) this.#lists.pop();
      const items = this.#lists.at(-1);
      if (items === undefined) return;
      this.#work(items.pop()!);
    }
    while (this.#lists.at(-1)?.length === 0) this.#lists.pop();
  }
}
