/** A place in a `ReadOrder`. */
export interface Ordered<T> {
  before: T | undefined;
  after: T | undefined;
}

/**
 * Items in the order of their last read, oldest first. Linked: a map whose items move to its end rebuilds its table every so
 * often, of a hundred thousand items in tens of milliseconds at once.
 */
export class ReadOrder<T extends Ordered<T>> {
  #first: T | undefined;
  #last: T | undefined;

  /** Adds an item as the one read last. */
  add(item: T): void {
    item.before = this.#last;
    item.after = undefined;
    if (this.#last === undefined) this.#first = item;
    else this.#last.after = item;
    this.#last = item;
  }

  /** Removes an item that is in it. */
  delete(item: T): void {
    if (item.before === undefined) this.#first = item.after;
    else item.before.after = item.after;
    if (item.after === undefined) this.#last = item.before;
    else item.after.before = item.before;
    item.before = item.after = undefined;
  }

  clear(): void {
    this.#first = this.#last = undefined;
  }

  /** The least recently read item. Walk on with `after`, which allocates nothing; an item that moves meanwhile ends the walk. */
  get first(): T | undefined {
    return this.#first;
  }
}
