import { type Answer, durationOf, type Outcome } from "./caller-process.ts";
import { type CoreTime, heldUpMs } from "./core-times.ts";
import { ms, percentile } from "./table.ts";

/** What a caller itself needs to get warm: calls made before are not judged. */
const WARM_UP_MS = 500;
/** A timer of a millisecond that comes half a millisecond late, on a thread that did nothing meanwhile, was held up by the machine. */
const HELD_UP_MS = 1.5;
/** The share of calls that has to be left to judge by. */
const MIN_JUDGED = 0.5;

/** The time within which 99 of 100 answers came. Milliseconds. */
export const p99 = (answers: readonly Answer[]): number => percentile(answers.map(durationOf), 0.99);

/** Whether the machine kept the thread of these notes from its core while an answer was waited for. */
export const isHeldUp = ({ fromMs, toMs }: Answer, times: readonly CoreTime[]): boolean =>
  heldUpMs(times, fromMs, toMs) > HELD_UP_MS;

/**
 * How long answers took under one condition. Judged are those during which the machine let both the server and the callers run: what
 * is left is the server's own doing, whether it computed or waited. On a machine of two cores some thread is always held up, and the
 * slowest hundredth is made of nothing else.
 */
export class Latencies {
  readonly answers: Answer[] = [];
  readonly #judged: Answer[] = [];

  /** @param server the server's notes of its processor time during the run */
  add({ answers, notes, fromMs }: Outcome, server: readonly CoreTime[]): void {
    for (const answer of answers) {
      this.answers.push(answer);
      if (answer.fromMs - fromMs < WARM_UP_MS || isHeldUp(answer, notes) || isHeldUp(answer, server)) continue;
      this.#judged.push(answer);
    }
  }

  /** Calls that were not answered with 200. */
  get failed(): number {
    return this.answers.filter(({ status }) => status !== 200).length;
  }

  /** Whether the 99th percentile, of what is judged, is at most so many times that of a calmer condition. */
  isWithin(factor: number, calm: Latencies): boolean {
    const enough = [this, calm].every((each) => each.#judged.length >= MIN_JUDGED * each.answers.length);
    return enough && p99(this.#judged) <= factor * p99(calm.#judged);
  }

  /** The change of the 99th percentile from a calmer condition to this one, as people read it. */
  since(calm: Latencies): string {
    const judged = `p99 ${ms(p99(calm.#judged))} → ${ms(p99(this.#judged))} (of ${this.#judged.length} undisturbed)`;
    return `${judged}; with what else the machine did ${ms(p99(calm.answers))} → ${ms(p99(this.answers))} (of ${this.answers.length})`;
  }
}
