import { expect, test } from "vitest";
import { ERRORS } from "../../../errors/error-codes.ts";
import type { Diagnosis } from "../diagnosis/diagnosis.ts";
import { diagnosisIn, expiredOutcome } from "./expired-outcome.ts";
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
