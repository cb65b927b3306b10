import type { Random } from "../../../src/primitives/random.ts";

/**
 * Draws from a list of numbers in [0, 1), one after another: where a few of them change, so do a few of the draws. Draws beyond the end
 * of the list add to it.
 */
export class Genes {
  #at = 0;
  readonly #random: Random;
  readonly values: number[];

  constructor(random: Random, values: number[] = []) {
    this.#random = random;
    this.values = values;
  }

  /** Draws from the start of the list again. */
  restart(): this {
    this.#at = 0;
    return this;
  }

  /** 0 ≤ result < 1. */
  next(): number {
    const at = this.#at++;
    if (at >= this.values.length) this.values.push(unit(this.#random));
    return this.values[at]!;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)]!;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** low ≤ result ≤ high. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** Evenly spread over orders of magnitude: 1 ≤ result ≤ high, to 40 bits. */
  magnitude(high: bigint): bigint {
    const bits = this.next() * high.toString(2).length;
    const whole = BigInt(Math.floor(2 ** (40 + (bits % 1))));
    const value = (whole << BigInt(Math.floor(bits))) >> 40n;
    return value > high ? high : value < 1n ? 1n : value;
  }

  /** The same numbers, some of them changed: most of those by a little. */
  changed(): Genes {
    const random = this.#random;
    const share = Math.max(0.2, 1.5 / Math.max(1, this.values.length));
    const values = this.values.map((value) => {
      if (unit(random) >= share) return value;
      if (random.chance(0.4)) return unit(random);
      return Math.min(1 - 2 ** -32, Math.max(0, value + (unit(random) - 0.5) * 0.2 * unit(random)));
    });
    return new Genes(random, values);
  }
}

const unit = (random: Random): number => random.u32() / 2 ** 32;
