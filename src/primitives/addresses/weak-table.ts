/** Entries looked at before other work gets a turn: some 50 µs' worth. */
const PER_TURN = 250;

/** The next turn of the loop; browsers have no `setImmediate`. */
const inNextTurn: (goOn: () => void) => unknown =
  typeof setImmediate === "function" ? setImmediate : (goOn) => setTimeout(goOn, 0);

/**
 * Values by key, for as long as something else holds them. What the engine has collected is dropped a bounded number per turn of the
 * loop. A registry of every value would report all that one collection found in a single turn, hundreds of thousands of them.
 */
export class WeakTable<T extends object> {
  readonly #refs = new Map<string, WeakRef<T>>();
  /** Reports a collection of the whole heap: the one object in it has no other use. */
  readonly #collections = new FinalizationRegistry<undefined>(() => this.#begin());
  #going: Iterator<[string, WeakRef<T>]> | undefined;

  constructor() {
    this.#collections.register({}, undefined);
  }

  /** Entries, collected or not. */
  get size(): number {
    return this.#refs.size;
  }

  get(key: string): T | undefined {
    return this.#refs.get(key)?.deref();
  }

  set(key: string, value: T): void {
    this.#refs.set(key, new WeakRef(value));
  }

  #begin(): void {
    this.#collections.register({}, undefined);
    if (this.#going !== undefined) return;
    this.#going = this.#refs.entries();
    this.#turn(this.#going);
  }

  #turn(going: Iterator<[string, WeakRef<T>]>): void {
    for (let left = PER_TURN; left > 0; left--) {
      const { value, done } = going.next();
      if (done === true) {
        this.#going = undefined;
        return;
      }
      if (value[1].deref() === undefined) this.#refs.delete(value[0]);
    }
    inNextTurn(() => this.#turn(going));
  }
}
