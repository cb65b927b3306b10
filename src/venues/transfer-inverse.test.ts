import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { transferFeeOn } from "../solana/transfer-fee.ts";
import { exactBeforeFee } from "./transfer-inverse.ts";

const fee = (bps: bigint, maximumFee: bigint) => ({ epoch: 0n, bps, maximumFee });

describe("exactBeforeFee", () => {
  it("delivers exactly what is asked, where it answers", () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 1n << 60n),
        fc.bigInt(0n, 10_000n),
        fc.bigInt(0n, 1n << 40n),
        (received, bps, maximum) => {
          const sent = exactBeforeFee(received, fee(bps, maximum));
          if (sent !== undefined) expect(sent - transferFeeOn(sent, fee(bps, maximum))).toBe(received);
        },
      ),
    );
  });

  it("is the amount itself where transfers are free", () => {
    expect(exactBeforeFee(77n, undefined)).toBe(77n);
    expect(exactBeforeFee(9_850n, fee(150n, 1n << 60n))).toBe(10_000n);
  });
});
