import { afterEach, expect, test, vi } from "vitest";
import type { Trade } from "../trade.ts";
import { TradeError } from "../trade-error.ts";
import { answerWithin, ofLookup, submitUntilDecided } from "./submission.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** The time-outs that submits are sent with. Milliseconds. */
async function timeoutsOf(timeoutMs: number, patienceMs: number): Promise<number[]> {
  const asked: number[] = [];
  const send = async (timeout: number) => {
    asked.push(timeout);
    return { signature: "s", status: "confirmed" } as Trade;
  };
  const { signal } = new AbortController();
  await submitUntilDecided(send, {
    signature: "s",
    expected: undefined,
    patienceMs,
    timeoutMs,
    signal,
    nowMs: () => performance.now(),
  });
  return asked;
}

test("a submit may take what one answer may, and no longer than patience lasts; 0 is no bound of its own", async () => {
  expect(await timeoutsOf(30_000, 120_000)).toEqual([30_000]);
  expect(await timeoutsOf(30_000, 1_000)).toEqual([1_000]);
  expect(await timeoutsOf(0, 120_000)).toEqual([120_000]);
  expect(await timeoutsOf(30_000, 0)).toEqual([1]);
});

test("a failed look-up says that a transaction was signed only if this client signed it", () => {
  const failure = new TradeError("TRADE_NOT_FOUND", "There is none.");
  const unknown = ofLookup(failure, "s", undefined);
  expect([unknown.code, unknown.message, unknown.signature]).toEqual([
    "TRADE_NOT_FOUND",
    "The look-up of s failed: There is none.",
    "s",
  ]);
  expect(ofLookup(failure, "s", {} as never).message).toContain("was signed");
});

test("a status that this library does not know is no end: it is asked again, until patience runs out", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const answers = ["unspecified", "settling", "confirmed"];
  let sent = 0;
  const submission = { signature: "s", expected: undefined, timeoutMs: 1_000, signal: new AbortController().signal };
  const send = async () => ({ signature: "s", status: answers[sent++] ?? "unspecified" }) as unknown as Trade;
  const nowMs = () => performance.now();
  const decided = submitUntilDecided(send, { ...submission, patienceMs: 60_000, nowMs });
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await decided).status).toBe("confirmed");
  expect(sent).toBe(answers.length);
  expect((await submitUntilDecided(send, { ...submission, patienceMs: 1, nowMs })).status).toBe("pending");
  expect(sent).toBe(answers.length + 1);
});

test.each(["CONNECTION_ERROR", "REQUEST_TIMEOUT"])(
  "a last call that patience cuts short, %s, does not hide that the service reports the trade as pending",
  async (code) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const nowMs = () => performance.now();
    const submission = { signature: "s", expected: undefined, timeoutMs: 30_000, patienceMs: 60_000, nowMs };
    /** A service that answers after 25 seconds, as one does that waits for the chain. */
    const send = (answer: () => Trade) => async (timeoutMs: number) => {
      await new Promise((resolve) => setTimeout(resolve, Math.min(timeoutMs, 25_000)));
      if (timeoutMs < 25_000) throw new TradeError(code, "The call timed out.", { retryable: true });
      return answer();
    };
    const { signal } = new AbortController();
    const pending = submitUntilDecided(
      send(() => ({ signature: "s", status: "pending" }) as Trade),
      { ...submission, signal },
    );
    await vi.advanceTimersByTimeAsync(61_000);
    expect((await pending).status).toBe("pending");
    // If the service has said nothing, the failure is all that there is to say.
    const silent = submitUntilDecided(
      send(() => {
        throw new TradeError("UPSTREAM_ERROR", "No node answers.", { retryable: true });
      }),
      { ...submission, signal },
    );
    const refused = expect(silent).rejects.toMatchObject({ code, signature: "s" });
    await vi.advanceTimersByTimeAsync(61_000);
    await refused;
  },
);

test("an answer has the time that it is given, and without a time all of it, until the caller stops", async () => {
  vi.useFakeTimers();
  const caller = new AbortController();
  const never = new Promise<never>(() => {});
  const bounded = expect(answerWithin(30, caller.signal, never)).rejects.toThrow("did not answer within 30 ms");
  const unbounded = expect(answerWithin(0, caller.signal, never)).rejects.toMatchObject({ code: "ABORTED" });
  // A month.
  await vi.advanceTimersByTimeAsync(2_592_000_000);
  await bounded;
  caller.abort();
  await unbounded;
  expect(await answerWithin(0, new AbortController().signal, 7)).toBe(7);
});
