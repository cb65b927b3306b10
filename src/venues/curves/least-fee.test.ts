import { expect, test } from "vitest";
import { createRandom } from "../../primitives/random.ts";
import { mostKept } from "./least-fee.ts";
import { type BaseFee, baseFeeOnGross, FEE_DENOMINATOR } from "./scheduled-fee.ts";

const random = createRandom(1_766);
const CAP = FEE_DENOMINATOR / 2n;

/** A schedule by time, whose fee is small: there a whole part counts most. */
function drawnSchedule(): BaseFee {
  const [periods, exponential] = [random.between(0n, 200n), random.chance(0.7)];
  const reduction = random.between(0n, exponential ? 200n : 1_000n);
  const cliff = random.between(200_000n, 3_000_000n);
  return { kind: "timeSchedule", cliff, exponential, periods, frequency: 1n, reduction };
}

test("no moment of a schedule leaves more of a trade, to the part", () => {
  for (let round = 0; round < 2_000; round++) {
    const fee = drawnSchedule();
    const moment = { activationPoint: 0n, buying: true, sqrtPrice: 1n, firstSqrtPrice: 1n };
    const charged = baseFeeOnGross(fee, 1n, { ...moment, point: random.between(0n, 300n) });
    const kept = Number(FEE_DENOMINATOR - charged) / Number(FEE_DENOMINATOR);
    expect(mostKept(fee, CAP), `a fee of ${charged}`).toBeGreaterThanOrEqual(kept - 1e-15);
  }
});
