import { expect, it } from "vitest";
import { NewestSlot } from "./newest-slot.ts";

it("a slot that a blockhash named a moment before it was seen begun still counts for the pace", () => {
  let nowMs = 1_000;
  const newest = new NewestSlot(() => nowMs);
  newest.reset(100n);
  for (let slot = 102n; slot <= 110n; slot += 2n) {
    nowMs += 800;
    newest.noteReached(slot);
    newest.noteBegun(slot);
    newest.noteBegun(slot);
  }
  expect(newest.slotMs).toBeCloseTo(400, 6);
  expect(newest.blocksSince(104n)).toBe(3);
});
