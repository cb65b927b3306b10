/** Integers drawn from a seed: the same seed gives the same numbers on every machine. Never use it for secrets. */
export interface Random {
  /** 0 ≤ result < 2^32. */
  u32(): number;
  /** 0 ≤ result < bound; bound ≥ 1. */
  below(bound: bigint): bigint;
  /** low ≤ result ≤ high. */
  between(low: bigint, high: bigint): bigint;
  /** Evenly spread over orders of magnitude: 1 ≤ result ≤ high. */
  magnitude(high: bigint): bigint;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
  bytes(length: number): Uint8Array;
}

/** Bytes from a cryptographic source, for keys, nonces and ids. */
export type RandomBytes = (length: number) => Buffer;

/** A generator of the mulberry32 family. @see https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const u32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (bound: bigint): bigint => {
    let value = 0n;
    for (let range = 1n; range < bound << 32n; range <<= 32n) value = (value << 32n) | BigInt(u32());
    return value % bound;
  };
  return {
    u32,
    below,
    between: (low, high) => low + below(high - low + 1n),
    magnitude: (high) => {
      const bits = Number(below(BigInt(high.toString(2).length))) + 1;
      const value = (1n << BigInt(bits - 1)) | below(1n << BigInt(bits - 1));
      return value > high ? high : value;
    },
    pick: (items) => items[u32() % items.length]!,
    chance: (probability) => u32() < probability * 2 ** 32,
    bytes: (length) => Uint8Array.from({ length }, () => u32() & 0xff),
  };
}
