import { randomFillSync } from "node:crypto";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createMemorySubmissions } from "../../test/support/memory-submissions.ts";
import { recordOf, sealerOf, signedTrade } from "../../test/support/submit-world.ts";
import type { Landing } from "../chain/port.ts";
import type { SubmitPorts } from "./submit/submit-trade.ts";
import { createTrades, type TradesBuildPorts } from "./trades.ts";

const DAY_MS = 24 * 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a wall clock that is set takes no submission out of the last day, nor keeps one in it", async () => {
  const sealer = sealerOf("07");
  const landing: Partial<Landing> = {
    async land({ onEvent }) {
      onEvent?.({ kind: "sent", sender: "rpc-1" });
      return { kind: "landed", record: recordOf(), witnesses: 1 };
    },
    drop() {},
  };
  const submitPorts = {
    sealer,
    submissions: createMemorySubmissions(Date.now),
    landing,
    venues: [],
    now: Date.now,
    monotonicMs: () => performance.now(),
    owner: "a",
    settings: { answerMs: 25_000, historyMs: DAY_MS, leaseMs: 5_000, claimTimeoutMs: 100 },
  } as unknown as SubmitPorts;
  const trades = createTrades({} as TradesBuildPorts, submitPorts, () => 0, randomFillSync);
  const sample = () => trades.landings.ofSender("rpc-1")?.sample;
  await trades.submit(signedTrade(sealer));
  vi.setSystemTime(Date.now() + 2 * DAY_MS);
  expect(sample()).toBe(1);
  vi.setSystemTime(Date.now() - 4 * DAY_MS);
  vi.advanceTimersByTime(DAY_MS);
  expect(sample()).toBeUndefined();
  await trades.close();
});
