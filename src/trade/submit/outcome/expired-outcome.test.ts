import { expect, test } from "vitest";
import { ERRORS } from "../../../errors/error-codes.ts";
import type { Diagnosis } from "../diagnosis/diagnosis.ts";
import { diagnosisIn, expiredOutcome, outcomeFor, signaturesIn, withOthers } from "./expired-outcome.ts";
import { formatOutcome, type Outcome, parseOutcome } from "./outcome.ts";

type Failed = Extract<Outcome, { readonly kind: "failed" }>;

const finding = { kind: "absent", reachesBack: true, witnesses: 2, sinceMs: 1, isRemembered: true } as const;
const times = { expiresAtMs: 0, nowMs: 1, historyMs: 1_000 };
const diagnosis: Diagnosis = {
  cause: "contention",
  sure: true,
  evidence: "It bid 1.",
  remedy: "Bid more.",
  others: ["senders_late", "dropped_block"],
};

test.each([diagnosis, { ...diagnosis, cause: "unknown", sure: false, others: [] } as const])(
  "a diagnosis is kept with the outcome and read back",
  (cause) => {
    const outcome = parseOutcome(
      formatOutcome(expiredOutcome("s", finding, { ...times, cause, signatures: ["s"] })),
    ) as Failed;
    expect(outcome.facts.details).toMatchObject({ diagnosis: cause.cause, sure: cause.sure, evidence: "It bid 1." });
    expect(diagnosisIn(outcome)).toEqual(cause);
  },
);

test("no diagnosis is read from other failures, or from outcomes of earlier releases", () => {
  const facts = { safeToRebuild: true, details: { signature: "s", diagnosis: "unknown", evidence: "", remedy: "" } };
  expect(diagnosisIn({ kind: "failed", code: "TX_EXPIRED", message: "", facts })).toBeUndefined();
  expect(diagnosisIn({ kind: "failed", code: "OUTCOME_UNKNOWN", message: "", facts: {} })).toBeUndefined();
});

test("who may have traded all the same is not advised to build again unseen", () => {
  const findings = [
    { ...finding, reachesBack: false },
    { ...finding, reachesBack: false, isRemembered: false },
  ] as const;
  const outcomes = findings.map(
    (one) => expiredOutcome("s", one, { ...times, cause: diagnosis, signatures: ["s"] }) as Failed,
  );
  expect(outcomes.map(({ code, facts }) => [code, facts.safeToRebuild])).toEqual([
    ["TX_EXPIRED", false],
    ["OUTCOME_UNKNOWN", false],
  ]);
  for (const { code, message } of outcomes) {
    expect(message).toMatch(/Check the wallet before building again/);
    expect(ERRORS[code].advice).toMatch(/heck the wallet before building again/);
  }
});

test("an expiry keeps what it says of its signature, and all that were ever too old to tell beside it", () => {
  const unserved = { kind: "unserved", sinceMs: 1, isRemembered: true } as const;
  const untold = (...signatures: readonly string[]) =>
    expiredOutcome("b", { ...unserved, isRemembered: false }, { ...times, cause: diagnosis, signatures });
  const expired = expiredOutcome("a", unserved, { ...times, cause: diagnosis, signatures: ["a"] });
  const first = withOthers(expired, untold("a", "b"))!;
  // A process may not know of the one before.
  const second = withOthers(first, untold("a", "c"))!;
  expect(signaturesIn(second)).toEqual(["a", "b", "c"]);
  const codes = ["a", "b", "c"].map((signature) => (outcomeFor(second, signature) as Failed).code);
  expect(codes).toEqual(["TX_EXPIRED", "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"]);
  expect(withOthers(second, untold("a", "b"))).toBeUndefined();
  expect(withOthers(untold("a"), untold("a", "b"))).toBeUndefined();
});
