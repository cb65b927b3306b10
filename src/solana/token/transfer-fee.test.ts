import fc from "fast-check";
import { expect, test } from "vitest";
import { amountBeforeFee, transferFeeAt, transferFeeOn } from "./transfer-fee.ts";

const fee = (bps: bigint, maximumFee = 2n ** 64n - 1n) => ({ epoch: 0n, maximumFee, bps });

test("a transfer withholds its fee rounded up, at most the maximum", () => {
  expect(transferFeeOn(10_000n, fee(100n))).toBe(100n);
  expect(transferFeeOn(1n, fee(1n))).toBe(1n);
  expect(transferFeeOn(10_000n, fee(100n, 7n))).toBe(7n);
  expect(transferFeeOn(10_000n, undefined)).toBe(0n);
  expect(transferFeeOn(0n, fee(100n))).toBe(0n);
});

test("the newer setting applies from its epoch on", () => {
  const fees = { older: { ...fee(1n), epoch: 3n }, newer: { ...fee(2n), epoch: 10n } };
  expect(transferFeeAt(fees, 9n).bps).toBe(1n);
  expect(transferFeeAt(fees, 10n).bps).toBe(2n);
});

test("the amount before the fee delivers exactly what was asked, and one unit less delivers less", () => {
  const delivered = (sent: bigint, setting: ReturnType<typeof fee>) => sent - transferFeeOn(sent, setting);
  const check = (received: bigint, setting: ReturnType<typeof fee>) => {
    const sent = amountBeforeFee(received, setting);
    expect(delivered(sent, setting)).toBe(received);
    expect(delivered(sent - 1n, setting) < received).toBe(true);
  };
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 60n }),
      fc.bigInt({ min: 0n, max: 10_000n }),
      fc.bigInt({ min: 0n, max: 2n ** 61n }),
      (received, bps, maximum) => check(received, fee(bps, maximum)),
    ),
  );
  // All small cases: the maximum reached, just missed, and everything withheld.
  for (const bps of [1n, 3n, 150n, 3_333n, 5_000n, 9_999n, 10_000n])
    for (let maximum = 0n; maximum < 12n; maximum++)
      for (let received = 1n; received < 150n; received++) check(received, fee(bps, maximum));
  expect(amountBeforeFee(9_850n, fee(150n))).toBe(10_000n);
  expect([amountBeforeFee(0n, fee(150n)), amountBeforeFee(77n, undefined)]).toEqual([0n, 77n]);
});
