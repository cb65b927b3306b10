import { expect, test } from "vitest";
import { createRandom } from "../primitives/random.ts";
import { isSquareOnCurve, CURVE_PRIME as P } from "./curve-square.ts";

/** Euler's criterion, as the book has it. */
function isSquareByPower(value: bigint): boolean {
  let power = 1n;
  for (let base = value, rest = (P - 1n) / 2n; rest > 0n; rest >>= 1n, base = (base * base) % P)
    if ((rest & 1n) === 1n) power = (power * base) % P;
  return power === 1n;
}

test("squares are recognized as Euler's criterion does", () => {
  const random = createRandom(8);
  const values = [1n, 2n, 3n, 4n, P - 1n, P - 2n, (P - 1n) / 2n];
  for (let bits = 1n; bits < 255n; bits += 7n) values.push(1n << bits, (1n << bits) - 1n || 1n, (1n << bits) + 1n);
  for (let round = 0; round < 100; round++)
    values.push((BigInt(`0x${Buffer.from(random.bytes(32)).toString("hex")}`) % (P - 1n)) + 1n);
  for (const value of values)
    expect(isSquareOnCurve(value % P || 1n), `${value}`).toBe(isSquareByPower(value % P || 1n));
});
