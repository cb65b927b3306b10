import { TradewireError } from "../errors/tradewire-error.ts";

/** One item of a batch that waits for its result. */
interface Waiting<T, R> {
  readonly item: T;
  readonly result: PromiseWithResolvers<R>;
  /** The next one of the same key. */
  next: Waiting<T, R> | undefined;
}

/** Items of one key, oldest first. */
interface Line<T, R> {
  first: Waiting<T, R>;
  last: Waiting<T, R>;
}

interface BatchesOptions<T, R> {
  /** Does the work of several items at once; their keys all differ. @returns a result for each, in their order */
  readonly run: (items: readonly T[]) => Promise<readonly R[]>;
  /** Upper bound of items in a batch. */
  readonly most: number;
  /** Batches in flight at a time: the next one is sent before the last one is answered. */
  readonly inFlight: number;
  /** True if one result answers all items of a key that wait together: then no key has more than one in waiting, however many are added. */
  readonly isShared?: boolean;
}

/**
 * Gathers work that arrives while earlier work is in flight, so that a database commits it together. What arrives when nothing
 * is in flight does not wait. An item is part of no batch that was sent before it was added.
 */
export class Batches<T, R> {
  readonly #options: BatchesOptions<T, R>;
  /** By key, next turn first: the cost of a batch depends on its size, not on how many wait. */
  readonly #lines = new Map<string, Line<T, R>>();
  #inFlight = 0;
  #isDue = false;

  constructor(options: BatchesOptions<T, R>) {
    this.#options = options;
  }

  /** Adds an item; one whose key is among those gathered already is left for a later batch, or shares the result of that one. */
  add(key: string, item: T): Promise<R> {
    const line = this.#lines.get(key);
    if (line !== undefined && this.#options.isShared === true) return line.first.result.promise;
    const result = Promise.withResolvers<R>();
    const one: Waiting<T, R> = { item, result, next: undefined };
    if (line === undefined) this.#lines.set(key, { first: one, last: one });
    else {
      line.last.next = one;
      line.last = one;
    }
    if (!this.#isDue) {
      this.#isDue = true;
      // Items of the same turn go together.
      queueMicrotask(() => {
        this.#isDue = false;
        this.#sendNext();
      });
    }
    return result.promise;
  }

  #sendNext(): void {
    if (this.#lines.size === 0 || this.#inFlight >= this.#options.inFlight) return;
    const batch: Waiting<T, R>[] = [];
    const goOn: (readonly [string, Line<T, R>])[] = [];
    for (const [key, line] of this.#lines) {
      if (batch.length >= this.#options.most) break;
      batch.push(line.first);
      this.#lines.delete(key);
      if (line.first.next !== undefined) goOn.push([key, { first: line.first.next, last: line.last }]);
    }
    // Behind all others: one key does not hold up the rest.
    for (const [key, line] of goOn) this.#lines.set(key, line);
    this.#inFlight++;
    void this.#run(batch).finally(() => {
      this.#inFlight--;
      this.#sendNext();
    });
    this.#sendNext();
  }

  async #run(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      batch.forEach(({ result }, i) => void result.resolve(results[i]!));
    } catch (error) {
      // One faulty item must not fail the others; during an outage each would only wait for itself.
      if (batch.length > 1 && !(error instanceof TradewireError))
        await Promise.all(batch.map((one) => this.#run([one])));
      else for (const { result } of batch) result.reject(error);
    }
  }
}
