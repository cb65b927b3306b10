import { expect, test } from "vitest";
import { ConnectionSlots } from "./connection-slots.ts";

test("updates of endless slots that never begin take a bounded place, and the newest stay counted", () => {
  const slots = new ConnectionSlots();
  slots.begin(1n);
  for (let slot = 1n; slot <= 2_000n; slot++) slots.countUpdate(slot, undefined);
  expect(slots.updates.size).toBeLessThanOrEqual(128);
  expect(slots.updates.get(2_000n)).toBe(1);
});
