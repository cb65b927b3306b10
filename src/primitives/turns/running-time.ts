import type { Now } from "../clock.ts";

/**
 * Time in which this process could receive something. If it stands still, because the machine is busy or the process was
 * stopped, what nodes and streams have sent waits in its sockets: a deadline that passes meanwhile says nothing about them.
 */
export class RunningTime {
  readonly #clock: Now;
  readonly #mostMs: number;
  #turnedAtMs: number;
  #ms: number;

  /** @param mostMs how much of the time between two turns counts */
  constructor(clock: Now, mostMs: number) {
    this.#clock = clock;
    this.#mostMs = mostMs;
    this.#turnedAtMs = clock();
    this.#ms = this.#turnedAtMs;
  }

  /** Milliseconds; the clock's own if this process never stood still. */
  readonly now: Now = () => this.#ms + Math.min(Math.max(0, this.#clock() - this.#turnedAtMs), this.#mostMs);

  /** To be called regularly. */
  turn(): void {
    this.#ms = this.now();
    this.#turnedAtMs = this.#clock();
  }
}
