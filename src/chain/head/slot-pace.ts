/** Slots are looked at over this long: longer smooths more, and follows a change of the network's pace later. Milliseconds. */
const WINDOW_MS = 8_000;
/** What a node says of its own pace counts as much as this long of looking, until a whole window has been seen. Milliseconds. */
const PRIOR_WORTH_MS = 4_000;
/** A longer silence was a lost connection or a chain at rest, not a slot. */
const LONGEST_STEP_MS = 5_000;
/** Fewer steps than this say nothing. */
const LEAST_STEPS = 3;

interface Point {
  readonly slots: number;
  readonly atMs: number;
}

/**
 * How long a slot takes, by a straight line through when each slot was first heard of. Notices that come late, singly or in
 * bunches, hardly tilt a line through many; from only the first and the last slot of a window they would shift a lifetime of
 * 150 slots by many times their lateness.
 */
export class SlotPace {
  readonly #slots: number[] = [];
  readonly #atMs: number[] = [];
  /** Slots are counted from the first one, to be exact as numbers. */
  #origin: bigint | undefined;
  #priorMs: number | undefined;
  #slotMs = 0;

  /** Milliseconds per slot; 0 while nothing is known. */
  get slotMs(): number {
    return this.#slotMs;
  }

  /** What a node says of the last minute. */
  begin(slotMs: number): void {
    this.#priorMs = slotMs;
    this.#fit();
  }

  /** A slot was heard of for the first time. */
  note(slot: bigint, atMs: number): void {
    this.#origin ??= slot;
    const slots = Number(slot - this.#origin);
    const lastMs = this.#atMs.at(-1) ?? atMs;
    const isBreak = slots <= (this.#slots.at(-1) ?? -Infinity) || atMs < lastMs || atMs - lastMs > LONGEST_STEP_MS;
    if (isBreak) {
      this.#slots.length = this.#atMs.length = 0;
      if (this.#slotMs > 0) this.#priorMs = this.#slotMs;
    }
    this.#slots.push(slots);
    this.#atMs.push(atMs);
    while (this.#atMs[0]! < atMs - WINDOW_MS) {
      this.#slots.shift();
      this.#atMs.shift();
      this.#priorMs = undefined;
    }
    this.#fit();
  }

  /** Through all first, then through the half that was heard of soonest: news comes late, and never early. */
  #fit(): void {
    const all = this.#slots.map((slots, i) => ({ slots, atMs: this.#atMs[i]! }));
    const first = this.#slopeOf(all);
    if (first === undefined) return;
    this.#slotMs = first;
    if (all.length < 2 * LEAST_STEPS) return;
    const lateness = ({ slots, atMs }: Point) => atMs - slots * first;
    const middle = all.map(lateness).sort((a, b) => a - b)[all.length >> 1]!;
    this.#slotMs = this.#slopeOf(all.filter((point) => lateness(point) <= middle)) ?? first;
  }

  /** Least squares, drawn towards the prior as a window of its worth would draw; undefined without either. */
  #slopeOf(points: readonly Point[]): number | undefined {
    const prior = this.#priorMs;
    let scatter = prior === undefined ? 0 : (PRIOR_WORTH_MS / prior) ** 3 / 12;
    let tilt = scatter * (prior ?? 0);
    if (points.length > LEAST_STEPS) {
      let slots = 0;
      let atMs = 0;
      for (const point of points) {
        slots += point.slots / points.length;
        atMs += point.atMs / points.length;
      }
      for (const point of points) {
        scatter += (point.slots - slots) ** 2;
        tilt += (point.slots - slots) * (point.atMs - atMs);
      }
    }
    return scatter > 0 ? tilt / scatter : undefined;
  }
}
