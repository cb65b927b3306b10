import { describe, expect, it } from "vitest";
import { replayRecordedEvents } from "./recorded-events.ts";
import type { Replayed } from "./replayed.ts";
import { replayWhirlpools } from "./whirlpool-history.ts";

/** Leaves the two pools with thousands of swaps to `npm run replay`. */
const MOST_SWAPS = 1_000;

const unexplained = (trades: readonly Replayed[]): readonly Replayed[] =>
  trades.filter(({ happened, quoted, explained }) => happened !== quoted && explained === undefined);

describe("trades that happened on mainnet", () => {
  it("are quoted as they happened, where an event says how the market stood", () => {
    const trades = replayRecordedEvents();
    expect(unexplained(trades)).toEqual([]);
    expect(new Set(trades.map(({ venue }) => venue)).size).toBe(5);
  });

  it("are quoted as they happened, one after another over a Whirlpool's day, to its last price", () => {
    const trades = replayWhirlpools(MOST_SWAPS);
    expect(unexplained(trades)).toEqual([]);
    expect(trades.length).toBeGreaterThan(900);
  });
});
