/** Items to do, from the last to the first, and how many are left. */
interface Rest<T> {
  readonly items: readonly T[];
  left: number;
}

/** Does something to many items, a bounded number per turn of the loop. Few items are done at once; order is not promised. */
export class GradualWork<T> {
  readonly #work: (item: T) => void;
  readonly #perTurn: number;
  readonly #lists: Rest<T>[] = [];
  #next: NodeJS.Immediate | undefined;
  #isWorking = false;

  constructor(work: (item: T) => void, perTurn: number) {
    this.#work = work;
    this.#perTurn = perTurn;
  }

  /** Adds items; if none is waiting, does a turn's worth of them at once. Items appended to the list later are left out. */
  add(items: readonly T[]): void {
    this.#lists.push({ items, left: items.length });
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
      this.#dropDone();
      const list = this.#lists.at(-1);
      if (list === undefined) return;
      list.left -= 1;
      this.#work(list.items[list.left]!);
    }
    this.#dropDone();
  }

  #dropDone(): void {
    while (this.#lists.at(-1)?.left === 0) this.#lists.pop();
  }
}
