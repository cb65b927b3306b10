import { expect, test } from "vitest";
import { causeOfExpiry } from "./expiry-cause.ts";

const sent = { kind: "sent", atMs: 1, sender: "rpc-1" } as const;
const refused = { kind: "refused", atMs: 2, sender: "relay", reason: "tip too low" } as const;
const cause = (change: Partial<Parameters<typeof causeOfExpiry>[0]>) =>
  causeOfExpiry({ events: [sent], submittedAtMs: 1_000, expiresAtMs: 30_000, isWhole: true, ...change });

test("a submit after expiresAt was late, whatever senders said", () => {
  expect(cause({ submittedAtMs: 33_250, events: [refused] })).toMatchObject({
    diagnosis: "submitted_late",
    evidence: "It was submitted 3.3 s after its expiresAt.",
  });
  expect(cause({ submittedAtMs: 30_000 }).diagnosis).toBe("unknown");
});

test("senders are to blame only if this process saw all of them refuse", () => {
  expect(cause({ events: [refused, { ...refused, sender: "rpc-1", reason: "x".repeat(500) }] })).toMatchObject({
    diagnosis: "senders_refused",
    evidence: `No sender accepted it. relay: tip too low; rpc-1: ${"x".repeat(120)}`,
  });
  expect(cause({ events: [refused, sent] }).diagnosis).toBe("unknown");
  expect(cause({ events: [refused], isWhole: false }).diagnosis).toBe("unknown");
  expect(cause({ events: [] })).toMatchObject({
    diagnosis: "unknown",
    evidence: "No broadcast was seen by this process.",
  });
});
