/** An item of an `IndexedSet`, which knows its place there. */
export interface Indexed {
  /** -1: it is in none. */
  index: number;
}

/** A set in no order, of any size. Unlike a table it is never rebuilt: each call takes the same time. */
export class IndexedSet<T extends Indexed> {
  readonly #items: T[] = [];
  /** The item whose turn is next. */
  #next = 0;

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    if (item.index >= 0) return;
    item.index = this.#items.length;
    this.#items.push(item);
  }

  /** The last item takes its place. */
  delete(item: T): void {
    const { index } = item;
    if (index < 0) return;
    item.index = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    last.index = index;
    this.#items[index] = last;
  }

  /** Up to `limit` items; the next call goes on with others. */
  next(limit: number): T[] {
    const items = this.#items;
    const count = Math.min(limit, items.length);
    const next: T[] = [];
    for (let at = this.#next; next.length < count; at++) next.push(items[at % items.length]!);
    this.#next = items.length === 0 ? 0 : (this.#next + count) % items.length;
    return next;
  }

  clear(): void {
    for (const item of this.#items) item.index = -1;
    this.#items.length = 0;
  }
}
