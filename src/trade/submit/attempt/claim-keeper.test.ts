import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SubmissionClaim, SubmissionRecord, Submissions } from "../../../accounts/port.ts";
import { ClaimKeeper } from "./claim-keeper.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settings = { leaseMs: 10_000, claimTimeoutMs: 300 };
const sealer = { open: () => expect.unreachable("its own record is no other build's") };
const claim = { messageHash: "aa" } as SubmissionClaim;

test("a claim written late stays held, though a retry finds its own record", async () => {
  const answers: PromiseWithResolvers<"claimed" | SubmissionRecord>[] = [];
  const submissions = {
    nowMs: Date.now,
    claim: () => {
      const answer = Promise.withResolvers<"claimed" | SubmissionRecord>();
      answers.push(answer);
      return answer.promise;
    },
  } as unknown as Submissions;
  const keeper = new ClaimKeeper({ submissions, sealer, now: Date.now, owner: "this", settings }, claim, false);
  const claiming = keeper.claim();
  await vi.advanceTimersByTimeAsync(301);
  expect(await claiming).toBe("claimed");
  const stopRetrying = keeper.startRetrying(() => {});
  await vi.advanceTimersByTimeAsync(1_001);
  expect(answers).toHaveLength(2);
  // The database is back, and answers in order.
  answers[0]!.resolve("claimed");
  answers[1]!.resolve({ ...claim, leaseUntilMs: 10_000 } as SubmissionRecord);
  await vi.advanceTimersByTimeAsync(1);
  expect(keeper.isHeld).toBe(true);
  stopRetrying();
});

test("a signature that the database does not take is tried once a second, however often it is found missing there", async () => {
  let writes = 0;
  const submissions = {
    nowMs: Date.now,
    addSignature: async () => {
      writes += 1;
      throw new Error("the disk is full");
    },
  } as unknown as Submissions;
  const keeper = new ClaimKeeper({ submissions, sealer, now: Date.now, owner: "this", settings }, claim, true);
  for (let i = 0; i < 100; i++) await keeper.storeSignature({ signature: "other", transaction: new Uint8Array(1) });
  const stopRetrying = keeper.startRetrying(() => {});
  writes = 0;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(writes).toBe(10);
  stopRetrying();
});
