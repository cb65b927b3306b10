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

test("the newer setting rules from its epoch on", () => {
  const fees = { older: { ...fee(1n), epoch: 3n }, newer: { ...fee(2n), epoch: 10n } };
  expect(transferFeeAt(fees, 9n).bps).toBe(1n);
  expect(transferFeeAt(fees, 10n).bps).toBe(2n);
});

test("sending the amount before the fee delivers at least what was asked", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 2n ** 60n }),
      fc.bigInt({ min: 0n, max: 9_999n }),
      fc.bigInt({ min: 0n, max: 2n ** 61n }),
      (received, bps, maximum) => {
        const setting = fee(bps, maximum);
        const sent = amountBeforeFee(received, setting)!;
        expect(sent - transferFeeOn(sent, setting) >= received).toBe(true);
      },
    ),
  );
});
