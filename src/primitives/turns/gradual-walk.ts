/** Visits every item of a collection, a bounded number per turn of the loop. Few items are visited at once. */
export class GradualWalk<T> {
  readonly #items: () => Iterable<T>;
  readonly #visit: (item: T) => void;
  readonly #perTurn: number;
  #going: Iterator<T> | undefined;
  #next: NodeJS.Immediate | undefined;
  #isAgain = false;

  constructor(items: () => Iterable<T>, visit: (item: T) => void, perTurn: number) {
    this.#items = items;
    this.#visit = visit;
    this.#perTurn = perTurn;
  }

  /** True until every item has been visited since the last `begin`. */
  get isGoing(): boolean {
    return this.#going !== undefined;
  }

  /** Visits every item; if a walk is in progress, again after it. Items added meanwhile may be left out. */
  begin(): void {
    if (this.#going !== undefined) {
      this.#isAgain = true;
      return;
    }
    this.#going = this.#items()[Symbol.iterator]();
    this.#turn(this.#going);
  }

  clear(): void {
    clearImmediate(this.#next);
    this.#next = this.#going = undefined;
    this.#isAgain = false;
  }

  #turn(going: Iterator<T>): void {
    let on = going;
    for (let left = this.#perTurn; left > 0; left--) {
      const { value, done } = on.next();
      if (done !== true) this.#visit(value);
      else if (this.#isAgain) {
        this.#isAgain = false;
        this.#going = on = this.#items()[Symbol.iterator]();
      } else {
        this.clear();
        return;
      }
    }
    this.#next = setImmediate(() => this.#turn(on));
  }
}
