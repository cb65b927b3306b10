import { expect, test } from "vitest";
import { SlotTree } from "../slots/slot-tree.ts";
import { StreamProgress } from "./stream-progress.ts";

function start(byNodes?: bigint) {
  const clock = { nowMs: 1_000, headSlot: 0n };
  const stream = new StreamProgress({
    tree: new SlotTree(),
    now: () => clock.nowMs,
    headSlot: () => clock.headSlot,
    slotByNodes: () => byNodes,
    quietMs: 1_000,
    maxLagSlots: 10n,
    maxLeadSlots: 64n,
  });
  const receive = (slot: bigint, atMs: number) => {
    clock.nowMs = atMs;
    stream.receive(slot);
  };
  return { clock, stream, receive };
}

test("a slot began when it or a later one was first reported, though by the stream alone, and by now at the latest", () => {
  const { clock, stream, receive } = start(10n);
  receive(10n, 1_000);
  // Another source is sooner.
  clock.nowMs = 1_200;
  stream.note(11n);
  receive(12n, 1_400);
  // No two nodes have come to it: it makes nothing old.
  receive(15n, 1_800);
  expect(stream.passedAtMs(14n)).toBe(Number.POSITIVE_INFINITY);
  clock.nowMs = 2_000;
  expect([10n, 11n, 12n, 13n, 15n, 16n].map((slot) => stream.begunAtMs(slot))).toEqual([
    1_000, 1_200, 1_400, 1_800, 1_800, 2_000,
  ]);
});

test("the changes of a slot have arrived some time after the next one that is reported, however many are at once", () => {
  const { clock, stream, receive } = start();
  expect(stream.completeSlot(150)).toBeLessThan(1n);
  receive(10n, 1_000);
  receive(13n, 1_400);
  for (const slot of [14n, 15n, 16n]) receive(slot, 1_500);
  const completeAt = (atMs: number) => {
    clock.nowMs = atMs;
    return stream.completeSlot(150);
  };
  expect([1_549, 1_550, 1_649, 1_650].map(completeAt)).toEqual([9n, 12n, 12n, 15n]);
});

test("a slot that no node follows makes nothing old once the head is taken back, and nothing younger than it was", () => {
  const { clock, stream, receive } = start();
  receive(100n, 1_000);
  // One node names a slot that the chain comes to in 24 s, and the stream goes on.
  clock.headSlot = 220n;
  receive(101n, 1_200);
  expect(stream.completeUpToMs()).toBe(1_200);
  receive(104n, 1_800);
  clock.headSlot = 105n;
  receive(105n, 2_000);
  expect(stream.completeUpToMs()).toBe(Number.POSITIVE_INFINITY);
  expect(stream.passedAtMs(100n)).toBe(1_200);
  receive(106n, 2_200);
  expect(stream.passedAtMs(105n)).toBe(2_200);
  expect(stream.passedAtMs(103n)).toBe(1_200);
});
