import { expect, test } from "vitest";
import { StageClock } from "./call-record.ts";

/** Those of a submit that waits for its turn. */
const SUBMIT = [
  "receive",
  "wait",
  "auth",
  "validate",
  "open",
  "verify",
  "claim",
  "broadcast",
  "confirm",
  "receipt",
] as const;

test("calls that go the same way share the names of their stages, however many a submit has", () => {
  const [one, other] = [new StageClock(() => 0), new StageClock(() => 0)];
  for (const stage of SUBMIT) {
    one.mark(stage);
    other.mark(stage);
    expect(other.names).toBe(one.names);
  }
  expect(one.names).toEqual(SUBMIT);
  expect(one.describe()).toMatch(/^receive;dur=0.000, wait;dur=0.000, .*, receipt;dur=0.000$/);
});
