import { expect, test } from "vitest";
import { formatOutcome, type Outcome } from "./outcome.ts";
import { contradicts, storedOutcome } from "./stored-outcome.ts";

const failed: Outcome = {
  kind: "failed",
  code: "SLIPPAGE_EXCEEDED",
  message: "The price moved.",
  facts: { safeToRebuild: true, details: { signature: "sig", slot: 9 } },
};

test("what the chain showed rules out that it expired or is too old to tell, and no other stored end", () => {
  const without = (code: string) =>
    ({ kind: "failed", code, message: "", facts: { details: {} } }) as unknown as Outcome;
  const [expired, unknown] = [without("TX_EXPIRED"), without("OUTCOME_UNKNOWN")];
  const landed = { kind: "landed" } as Outcome;
  for (const shown of [failed, landed])
    expect([expired, unknown, failed, landed].map((stored) => contradicts(shown, stored))).toEqual([
      ...[true, true],
      ...[false, false],
    ]);
  for (const shown of [expired, unknown])
    expect([expired, unknown, failed, landed].some((stored) => contradicts(shown, stored))).toBe(false);
});

test("an end that names another signature than its record, or cannot be read, is none", () => {
  const outcome = formatOutcome(failed);
  const stored = (text: string | undefined, signature: string) =>
    storedOutcome({ outcome: text, signature, isFinalized: false });
  expect(stored(outcome, "sig")).toMatchObject({ kind: "failed", code: "SLIPPAGE_EXCEEDED" });
  expect(stored(outcome, "other")).toBeUndefined();
  for (const text of [undefined, "", "{", "null", "5", "{}"]) expect(stored(text, "sig")).toBeUndefined();
});
