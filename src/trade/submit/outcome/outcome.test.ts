import { expect, test } from "vitest";
import { formatOutcome, type Outcome, parseOutcome } from "./outcome.ts";

test.each(["5n", "-5n", "~5n", "~~-5n", "5", "n", "~", "9".repeat(5_000).concat("n"), "Program log: 5n"])(
  "a text of the chain stays text, though it looks like an amount: %s",
  (text) => {
    const facts = { details: { program: text, reason: "r" } };
    const outcome: Outcome = { kind: "failed", code: "PROGRAM_ERROR", message: text, facts };
    const kept = parseOutcome(formatOutcome(outcome));
    expect(kept).toEqual(outcome);
    expect(() => JSON.stringify(kept)).not.toThrow();
  },
);

test("outcomes that earlier releases have stored are read as before", () => {
  const stored =
    '{"kind":"landed","slot":"7n","status":"confirmed","result":{"inAmount":"123456789012345678901n","outAmount":"-7n"},' +
    '"costs":{"baseFee":"5000n","priorityFee":"0n","tip":"0n","rentPaid":"0n","rentReturned":"0n"}}';
  expect(parseOutcome(stored)).toMatchObject({
    slot: 7n,
    result: { inAmount: 123456789012345678901n, outAmount: -7n },
  });
});

test.each(['"5n"', "null", "[]", '{"kind":"failed","code":"NONE"}', '{"kind":"landed"}', "{"])(
  "%s is no outcome",
  (text) => {
    expect(() => parseOutcome(text)).toThrow();
  },
);
