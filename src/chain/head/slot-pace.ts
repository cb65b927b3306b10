/** Window of slots measured: a longer one is smoother and slower to follow a change of pace. Milliseconds. */
const WINDOW_MS = 8_000;
/** Weight of a node's own measure, as a length of observation, until a whole window has been observed. Milliseconds. */
const PRIOR_WORTH_MS = 4_000;
/** A longer silence is a lost connection or a halted chain, not a slot. */
const MAX_STEP_MS = 5_000;
/** Slots that may be skipped at once beyond what the pace allows. */
const MAX_LEAP_SLOTS = 4;
/** If the next slot's notice follows within this part of a slot's time, the one before was read late. */
const BUNCHED = 1 / 4;
/** Slots by which a late notice may seem ahead, because the one before it was late too. */
const MOST_AHEAD_SLOTS = 1.5;
/** Time per slot used for that before one is measured: as short as slots may be. Milliseconds. */
const SHORTEST_SLOT_MS = 40;
/** Consecutive leaps that are ignored; after that, the chain has really leapt. */
const MAX_LEAPS = 3;
/** Fewer steps than this prove nothing. */
const MIN_STEPS = 3;

interface Point {
  readonly slots: number;
  readonly atMs: number;
}

/**
 * Measures the time per slot by a straight line through the arrival times of slots. Late notices, single or in bunches, hardly
 * tilt a line through many points. Measured from just the first and last slot of a window, they would shift a lifetime of 150
 * slots by many times their delay.
 */
export class SlotPace {
  readonly #slots: number[] = [];
  readonly #atMs: number[] = [];
  /** Slots are counted from the first one, so that they are exact as numbers. */
  #origin: bigint | undefined;
  #priorMs: number | undefined;
  #slotMs = 0;
  /** Consecutive slots ignored. */
  #leaps = 0;
  /** Arrival of the first notice of the last batch that was read together. */
  #bunchMs = -Infinity;

  /** Milliseconds per slot; 0 while unmeasured. */
  get slotMs(): number {
    return this.#slotMs;
  }

  /** Starts from a node's measure of the last minute. */
  begin(slotMs: number): void {
    this.#priorMs = slotMs;
    this.#fit();
  }

  /** A slot was seen for the first time. The very first was already in progress: when it began is unknown. */
  note(slot: bigint, atMs: number): void {
    if (this.#origin === undefined) {
      this.#origin = slot;
      return;
    }
    const slots = Number(slot - this.#origin);
    const lastMs = this.#atMs.at(-1) ?? atMs;
    if (this.#isLeap(slots, atMs - lastMs)) return;
    const isBreak = slots <= (this.#slots.at(-1) ?? -Infinity) || atMs < lastMs || atMs - lastMs > MAX_STEP_MS;
    if (isBreak) {
      this.#slots.length = this.#atMs.length = 0;
      if (this.#slotMs > 0) this.#priorMs = this.#slotMs;
    } else this.#forgetLate(slots, atMs);
    this.#slots.push(slots);
    this.#atMs.push(atMs);
    while (this.#atMs[0]! < atMs - WINDOW_MS) {
      this.#slots.shift();
      this.#atMs.shift();
      this.#priorMs = undefined;
    }
    this.#fit();
  }

  /** Of notices that were read together, as after this process stood still, all but the last were late. */
  #forgetLate(slots: number, atMs: number): void {
    const slotMs = this.#slotMs || this.#priorMs || SHORTEST_SLOT_MS;
    // Counted from the first notice of the batch, so that a chain that has become fast does not make an endless batch.
    if (atMs - this.#bunchMs >= slotMs * BUNCHED) {
      this.#bunchMs = atMs;
      return;
    }
    const [before, beforeMs] = [this.#slots.at(-2), this.#atMs.at(-2)];
    // A slot that the pace does not reach from the one before the batch was not late: it came ahead of its time.
    if (before !== undefined && slots - before > (atMs - beforeMs!) / slotMs + MOST_AHEAD_SLOTS) return;
    this.#slots.pop();
    this.#atMs.pop();
  }

  /** True for a slot that the pace does not reach, unless the following ones confirm it: one wrong notice does not tilt the line. */
  #isLeap(slots: number, elapsedMs: number): boolean {
    const last = this.#slots.at(-1);
    const most = this.#slotMs === 0 ? Infinity : MAX_LEAP_SLOTS + (2 * elapsedMs) / this.#slotMs;
    const isLeap = last !== undefined && slots - last > most && this.#leaps < MAX_LEAPS;
    this.#leaps = isLeap ? this.#leaps + 1 : 0;
    return isLeap;
  }

  /** Fits all points first, then the half that arrived soonest: notices come late, never early. */
  #fit(): void {
    const all = this.#slots.map((slots, i) => ({ slots, atMs: this.#atMs[i]! }));
    const first = this.#slopeOf(all);
    if (first === undefined) return;
    this.#slotMs = first;
    if (all.length < 2 * MIN_STEPS) return;
    const delay = ({ slots, atMs }: Point) => atMs - slots * first;
    const middle = all.map(delay).sort((a, b) => a - b)[all.length >> 1]!;
    this.#slotMs = this.#slopeOf(all.filter((point) => delay(point) <= middle)) ?? first;
  }

  /** Least squares, weighted towards the prior by `PRIOR_WORTH_MS`; undefined without points and prior. */
  #slopeOf(points: readonly Point[]): number | undefined {
    const prior = this.#priorMs;
    let scatter = prior === undefined ? 0 : (PRIOR_WORTH_MS / prior) ** 3 / 12;
    let tilt = scatter * (prior ?? 0);
    if (points.length > MIN_STEPS) {
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
