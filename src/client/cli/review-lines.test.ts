import { expect, test } from "vitest";
import type { TradeReview } from "../proof/review.ts";
import { movementWords, refuseCareless } from "./review-lines.ts";

const SIDES = { input: "SOL", output: "EMBER" };

/** A proven trade of one lamport that moves the price this far. */
const moving = (priceImpact: number) =>
  ({
    built: { estimates: { priceImpact } },
    unproven: [],
    mostInputRaw: "1",
    findings: undefined,
  }) as unknown as TradeReview;

test("the bound that a refusal asks for lets the trade pass", () => {
  for (const impact of [0.0501, 0.054, 0.06, 0.3333, 0.999]) {
    let said = "";
    try {
      refuseCareless(moving(impact), SIDES, undefined, 0);
    } catch (error) {
      said = String(error);
    }
    const [, bound] = /--max-price-impact ([\d.]+)/.exec(said)!;
    expect(Number(bound), said).toBeGreaterThanOrEqual(impact);
    expect(Number(bound), said).toBeLessThan(impact + 0.011);
  }
});

test("times of observation are told in three digits, however exact they are", () => {
  const moved = { movement: 0.0123, quantile: 0.95, samples: 72 };
  expect(movementWords({ ...moved, spanSeconds: 30.004854927676252, windowSeconds: 355.169462890625 })).toBe(
    "lost at most 1.23 % within 30 s in 95.00 % of 72 samples of 355 s",
  );
  expect(movementWords({ ...moved, spanSeconds: 0.40012, windowSeconds: 1234.5 })).toContain("0.4 s");
});
