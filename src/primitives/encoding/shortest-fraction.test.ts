import { describe, expect, test } from "vitest";
import { createRandom } from "../random.ts";
import { LONGEST_FRACTION, writeFraction } from "./shortest-fraction.ts";

const out = new Uint8Array(LONGEST_FRACTION + 3);

/** What is written of a number; undefined if that is left to JavaScript. */
function written(value: number): string | undefined {
  const end = writeFraction(value, out, 3);
  return end === 0 ? undefined : Buffer.from(out.buffer, 3, end - 3).toString("latin1");
}

/** The doubles around one. */
function around(value: number): number[] {
  const double = new Float64Array([value]);
  const bits = new BigUint64Array(double.buffer);
  bits[0]! -= 3n;
  return Array.from({ length: 7 }, () => {
    const [one] = double;
    bits[0]! += 1n;
    return one!;
  });
}

describe("a fraction", () => {
  test("is written as JavaScript writes it, of every size and number of digits", () => {
    const random = createRandom(3);
    let left = 0;
    for (let round = 0; round < 200_000; round++) {
      const real = (random.u32() + random.u32() / 2 ** 32) / 2 ** 32 / 10 ** (random.u32() % 6);
      const digits = 1 + (random.u32() % 17);
      for (const value of [real, Number(real.toPrecision(digits))]) {
        const text = written(value);
        if (text === undefined) left += value === real && value >= 1e-6 ? 1 : 0;
        else if (text !== `${value}`) expect(text).toBe(`${value}`);
      }
    }
    expect(left).toBeLessThan(40);
  });

  test("is written the same beside powers of two and of ten, where gaps and digits change", () => {
    const edges = [
      ...Array.from({ length: 20 }, (_, exponent) => 2 ** -exponent),
      ...Array.from({ length: 7 }, (_, exponent) => 10 ** -exponent),
    ];
    for (const value of edges.flatMap(around)) {
      const text = written(value);
      if (text !== undefined) expect(text).toBe(`${value}`);
    }
    expect(written(0.5)).toBeUndefined();
    expect(written(0.1)).toBe("0.1");
  });

  test("is no other number", () => {
    for (const value of [1, 1.5, 0, -0.25, 9.9e-7, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(written(value)).toBeUndefined();
    }
  });
});
