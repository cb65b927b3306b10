import type { Random } from "../../../src/primitives/random.ts";

/** Messages one way, in their order, each some milliseconds late. */
export class Channel {
  readonly #random: Random;
  readonly #leastMs: number;
  readonly #spreadMs: number;
  #lastAtMs = 0;

  constructor(random: Random, leastMs: number, mostMs: number) {
    this.#random = random;
    this.#leastMs = leastMs;
    this.#spreadMs = mostMs - leastMs + 1;
  }

  send(arrive: () => void): void {
    const nowMs = Date.now();
    this.#lastAtMs = Math.max(this.#lastAtMs, nowMs + this.#leastMs + (this.#random.u32() % this.#spreadMs));
    setTimeout(arrive, this.#lastAtMs - nowMs);
  }
}
