import { expect, test } from "vitest";
import { SYSTEM_PROGRAM } from "../../../solana/programs.ts";
import { SlotEnds } from "./slot-ends.ts";

const end = (slot: bigint, order: number, size = 0) => ({
  slot,
  order,
  account: {
    ...{ address: SYSTEM_PROGRAM, owner: SYSTEM_PROGRAM, lamports: BigInt(order), executable: false, slot },
    data: new Uint8Array(size),
  },
});

test("of a slot the last change counts, in whatever order the changes come", () => {
  const ends = new SlotEnds();
  for (const one of [end(7n, 2), end(5n, 1), end(7n, 3), end(7n, 1)]) ends.note(one);
  expect(ends.at(7n)?.order).toBe(3);
  expect(ends.at(6n)).toBeUndefined();
  expect(ends.before(7n)?.slot).toBe(5n);
  expect([ends.hasLaterThan(5n), ends.hasLaterThan(7n)]).toEqual([true, false]);
  ends.delete(7n);
  expect(ends.at(7n)).toBeUndefined();
});

test("what came before the slots that are still compared is forgotten, but for the last", () => {
  const ends = new SlotEnds();
  for (let slot = 1n; slot <= 5n; slot++) ends.note(end(slot, 0));
  ends.forgetBefore(4n);
  expect([ends.at(2n), ends.before(4n)?.slot]).toEqual([undefined, 3n]);
});

test("so many slots are kept and so much data, the newest always", () => {
  const ends = new SlotEnds();
  for (let slot = 1n; slot <= 100n; slot++) ends.note(end(slot, 0));
  expect([ends.at(68n), ends.at(69n)?.slot]).toEqual([undefined, 69n]);
  for (let slot = 101n; slot <= 104n; slot++) ends.note(end(slot, 0, 120 * 1024));
  expect([ends.at(102n), ends.at(103n)?.slot]).toEqual([undefined, 103n]);
  ends.note(end(105n, 0, 1024 * 1024));
  expect([ends.at(104n), ends.at(105n)?.slot]).toEqual([undefined, 105n]);
});
