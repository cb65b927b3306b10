import { expect, test } from "vitest";
import { checkPriorityCost } from "./limits.ts";

test("priority that costs exactly maxPriorityCost is within it, one lamport more is not", () => {
  const check = (lamports: bigint, maxPriorityCost: number) =>
    checkPriorityCost(
      { maxPriorityCost, priority: "fast" },
      { baseFee: 5000n, priorityFee: lamports, tip: 0n, rentPaid: 0n, rentReturned: 0n },
    );
  for (let lamports = 0n; lamports < 5_000n; lamports++) {
    expect(() => check(lamports, Number(lamports) / 1e9), `${lamports}`).not.toThrow();
    expect(() => check(lamports + 1n, Number(lamports) / 1e9), `${lamports} + 1`).toThrow(/more than maxPriorityCost/);
  }
});
