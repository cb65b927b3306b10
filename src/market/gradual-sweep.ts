/** What a sweep needs to know about its items. Times are epoch milliseconds. */
interface SweepPlan<T> {
  readonly items: Iterable<T>;
  /** How many they are now. */
  readonly size: number;
  /** "unused": is dropped. "busy": stays, whatever the limit. */
  state(item: T): "unused" | "used" | "busy";
  lastUsedMs(item: T): number;
  drop(items: readonly T[]): void;
  /** Upper bound of the items that stay, apart from the busy ones; the longest unused go first. */
  readonly limit: number;
}

/**
 * Work per turn of the loop, in items examined or dropped: a fraction of a millisecond. Examining thousands allocates a megabyte, for which
 * the collector may take more time than the sweep.
 */
const STEPS_PER_TURN = 1_000;
/** Steps that one dropped item counts for, because its accounts are unsubscribed. */
const DROP_STEPS = 20;
/** Items examined between two pauses: each pause allocates an object. */
const STEPS_PER_PAUSE = 50;

/** Drops what is no longer used, a bounded part per turn of the loop; few items are swept at once. */
export class GradualSweep {
  #next: NodeJS.Immediate | undefined;

  /** Begins a sweep, unless the last one still goes on. */
  begin<T>(plan: SweepPlan<T>): void {
    if (this.#next === undefined) this.#turn(plan, steps(plan));
  }

  close(): void {
    clearImmediate(this.#next);
    this.#next = undefined;
  }

  #turn<T>(plan: SweepPlan<T>, going: Iterator<T | undefined, void>): void {
    this.#next = undefined;
    const dropped: T[] = [];
    let isOver = false;
    for (let left = STEPS_PER_TURN; left > 0 && !isOver; ) {
      const { value, done } = going.next();
      isOver = done === true;
      left -= value === undefined ? STEPS_PER_PAUSE : DROP_STEPS + 1;
      if (value !== undefined) dropped.push(value);
    }
    if (dropped.length > 0) plan.drop(dropped);
    if (!isOver) this.#next = setImmediate(() => this.#turn(plan, going));
  }
}

/** Yields the items to drop, which the plan drops before the next turn, and undefined at each pause. */
function* steps<T>(plan: SweepPlan<T>): Generator<T | undefined, void> {
  const kept: T[] = [];
  // A list of all items is large: most sweeps need none.
  const mayBeTooMany = plan.size > plan.limit;
  let looked = 0;
  for (const item of plan.items) {
    const state = plan.state(item);
    if (mayBeTooMany && state === "used") kept.push(item);
    if (state === "unused") yield item;
    else if (++looked % STEPS_PER_PAUSE === 0) yield undefined;
  }
  let surplus = kept.length - plan.limit;
  if (surplus <= 0) return;
  const times = new Float64Array(kept.length);
  for (let i = 0; i < kept.length; i++) {
    times[i] = plan.lastUsedMs(kept[i]!);
    if (++looked % STEPS_PER_PAUSE === 0) yield undefined;
  }
  const newestToDrop = times.sort()[surplus - 1]!;
  // Older ones first, then as many of equal age as still exceed the limit.
  for (const isOlder of [true, false]) {
    for (const item of kept) {
      if (surplus === 0) return;
      const atMs = plan.lastUsedMs(item);
      const isWanted = isOlder ? atMs < newestToDrop : atMs === newestToDrop;
      // Used or dropped meanwhile: no longer one of the longest unused.
      if (isWanted && plan.state(item) === "used") {
        surplus -= 1;
        yield item;
      } else if (++looked % STEPS_PER_PAUSE === 0) yield undefined;
    }
  }
}
