import { expect, test } from "vitest";
import { LandingStatistics } from "./landing-statistics.ts";

const sent = (sender: string) => ({ kind: "sent", atMs: 0, sender }) as const;
const confirmed = (slot: bigint) => ({ kind: "confirmed", atMs: 0, slot }) as const;

test("counts what landed, and in how many slots, by level and by sender", () => {
  let nowMs = 0;
  const statistics = new LandingStatistics(() => nowMs);
  expect(statistics.ofLevel("fast")).toEqual({
    sample: 0,
    landedShare: undefined,
    slots: undefined,
    slotsP90: undefined,
  });
  expect(statistics.ofSender("rpc-1")).toBeUndefined();
  const land = (slots: bigint, code = "OK") =>
    statistics.record({ code, events: [sent("rpc-1"), confirmed(100n + slots)], priority: "fast", fromSlot: 100n });
  for (const slots of [1n, 2n, 2n, 3n]) land(slots);
  // One that landed and failed has landed.
  land(9n, "SLIPPAGE_EXCEEDED");
  const events = [sent("rpc-1"), { kind: "refused", atMs: 0, sender: "relay" } as const];
  statistics.record({ code: "TX_EXPIRED", events, priority: "fast", fromSlot: 100n });
  // Neither undecided ones nor those that another process sent say anything.
  statistics.record({ code: "PENDING", events: [sent("rpc-1")], priority: "fast", fromSlot: 100n });
  statistics.record({ code: "OK", events: [confirmed(200n)], priority: "fast", fromSlot: 100n });
  expect(statistics.ofLevel("fast")).toEqual({ sample: 6, landedShare: 5 / 6, slots: 2, slotsP90: 9 });
  expect(statistics.ofLevel("economy").sample).toBe(0);
  expect(statistics.ofSender("rpc-1")).toEqual({ sample: 6, landedShare: 5 / 6, refused: 0 });
  expect(statistics.ofSender("relay")).toEqual({ sample: 0, landedShare: 0, refused: 1 });
  nowMs = 24 * 3_600_000;
  expect(statistics.ofLevel("fast").sample).toBe(0);
  expect(statistics.ofSender("rpc-1")).toBeUndefined();
});

test("takes a token without a level, a slot behind the head, and any number of submissions", () => {
  const statistics = new LandingStatistics(() => 0);
  const events = [sent("rpc-1"), confirmed(90n)];
  statistics.record({ code: "OK", events, priority: undefined, fromSlot: 100n });
  for (let i = 0; i < 600; i++) statistics.record({ code: "OK", events, priority: "fastest", fromSlot: 100n });
  expect(statistics.ofLevel("fastest")).toEqual({ sample: 500, landedShare: 1, slots: 0, slotsP90: 0 });
});
