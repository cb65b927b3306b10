import { expect, test } from "vitest";
import { NewestReported } from "./newest-reported.ts";

/** What the newest slot is, and when it was reported, after these slots began. */
function newestAfter(...begun: readonly (readonly [slot: bigint, atMs: number])[]): [bigint, number] {
  const newest = new NewestReported();
  for (const [slot, atMs] of begun) newest.note(slot, atMs, true);
  return [newest.slot, newest.atMs];
}

test("slots of an old branch that come after a silence make nothing new, however long that was", () => {
  const known = [
    [108n, 600],
    [110n, 1_000],
  ] as const;
  expect(newestAfter(...known, [105n, 9_000], [106n, 9_400], [107n, 10_600])).toEqual([110n, 1_000]);
  expect(newestAfter(...known, [105n, 9_000], [111n, 9_100], [106n, 10_200])).toEqual([111n, 9_100]);
});

test("a slot is taken back once the chain has gone on below it for a second", () => {
  const chain = [101n, 102n, 103n].map((slot, i) => [slot, 1_400 + 400 * i] as const);
  expect(newestAfter([100n, 900], [140n, 1_000], ...chain.slice(0, 2))).toEqual([140n, 1_000]);
  expect(newestAfter([100n, 900], [140n, 1_000], ...chain)).toEqual([103n, 2_200]);
});

test("many slots far ahead are taken back too, once the chain has gone on for long", () => {
  const errors = [1_000_000n, 1_000_001n, 1_000_002n].map((slot) => [slot, 1_000] as const);
  const chain = (count: number) =>
    Array.from({ length: count }, (_, i) => [101n + BigInt(i), 1_400 + 400 * i] as const);
  expect(newestAfter([100n, 900], ...errors, ...chain(512))).toEqual([1_000_002n, 1_000]);
  expect(newestAfter([100n, 900], ...errors, ...chain(514))).toEqual([614n, 206_600]);
});
