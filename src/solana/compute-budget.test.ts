import { expect, test } from "vitest";
import { createRandom } from "../primitives/random.ts";
import { MAX_COMPUTE_UNITS, priorityFeeLamports } from "./compute-budget.ts";

test.each([
  [0, 5n, 0n],
  [100_000, 0n, 0n],
  [1, 1n, 1n],
  [999_999, 1n, 1n],
  [1_000_000, 1n, 1n],
  [1_000_001, 1n, 2n],
  [75_321, 54_321n, 4_092n],
  [MAX_COMPUTE_UNITS, (1n << 64n) - 1n, 25_825_441_703_193_372_261n],
])("%i units at %i micro-lamports cost %i lamports: a part of one counts as one", (units, price, lamports) => {
  expect(priorityFeeLamports(units, price)).toBe(lamports);
});

test("fees are rounded up to the lamport at every size, on both sides of what a double holds", () => {
  const random = createRandom(1_411);
  for (let round = 0; round < 20_000; round++) {
    const units = 1 + (random.u32() % MAX_COMPUTE_UNITS);
    // Whole lamports, and a micro-lamport beside them, are where a quotient could be rounded to the wrong side.
    const near = (random.below(1n << BigInt(random.u32() % 45)) * 1_000_000n) / BigInt(units);
    for (const price of [near, near + 1n, random.below(1n << 64n)]) {
      const microLamports = BigInt(units) * price;
      const lamports = microLamports / 1_000_000n + (microLamports % 1_000_000n === 0n ? 0n : 1n);
      if (priorityFeeLamports(units, price) !== lamports) expect.fail(`${units} units at ${price}`);
    }
  }
  // Products that are whole lamports, and one micro-lamport more or less, up to the largest that a double counts.
  for (let lamports = 1n; lamports < 1n << 33n; lamports = lamports * 2n + 1n) {
    expect(priorityFeeLamports(1, lamports * 1_000_000n)).toBe(lamports);
    expect(priorityFeeLamports(1, lamports * 1_000_000n + 1n)).toBe(lamports + 1n);
    expect(priorityFeeLamports(1, lamports * 1_000_000n - 1n)).toBe(lamports);
  }
});
