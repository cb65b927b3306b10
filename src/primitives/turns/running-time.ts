import type { Now } from "../clock.ts";

/**
 * Time in which this process could receive something. While it stands still, because the machine is busy or the process was stopped,
 * what nodes and streams send waits in its sockets: a deadline that passes then says nothing about them.
 */
export class RunningTime {
  readonly #clock: Now;
  readonly #mostMs: number;
  #turnedAtMs: number;
  #ms: number;

  /** @param mostMs upper bound of what counts between two turns. Milliseconds. */
  constructor(clock: Now, mostMs: number) {
    this.#clock = clock;
    this.#mostMs = mostMs;
    this.#turnedAtMs = clock();
    this.#ms = this.#turnedAtMs;
  }

  /** Milliseconds; the clock's own if this process never stood still. */
  readonly now: Now = () => this.#ms + Math.min(Math.max(0, this.#clock() - this.#turnedAtMs), this.#mostMs);

  /** Call it regularly, more often than every `mostMs`. */
  turn(): void {
    this.#ms = this.now();
    this.#turnedAtMs = this.#clock();
  }
}
