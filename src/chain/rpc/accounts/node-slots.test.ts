import { expect, test } from "vitest";
import { NodeSlots } from "./node-slots.ts";

const SLOT_MS = 400;
const [first, second, third] = [{}, {}, {}] as const;

function start() {
  let nowMs = 0;
  const slots = new NodeSlots(() => nowMs);
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { slots, pass };
}

test("a slot exists if two of three nodes have come to it, whatever the third one names", () => {
  for (const named of [0n, 70n, 130n, 2n ** 64n - 1n]) {
    const { slots } = start();
    slots.note(first, named);
    slots.note(second, 100n);
    slots.note(third, 99n);
    expect([named, slots.reachedByTwo(SLOT_MS)]).toEqual([named, named > 100n ? 100n : 99n]);
  }
});

test("two nodes, or two that have answered of late, show nothing: either may be the only one that is right", () => {
  const { slots, pass } = start();
  slots.note(first, 100n);
  slots.note(second, 100n);
  expect(slots.reachedByTwo(SLOT_MS)).toBeUndefined();
  slots.note(third, 100n);
  expect(slots.reachedByTwo(0)).toBeUndefined();
  expect(slots.reachedByTwo(SLOT_MS)).toBe(100n);
  pass(3_100);
  slots.note(first, 108n);
  slots.note(second, 108n);
  expect(slots.reachedByTwo(SLOT_MS)).toBeUndefined();
});

test("what nodes have said goes on at the chain's pace, and an older answer takes nothing back for a second", () => {
  const { slots, pass } = start();
  for (const node of [first, second, third]) slots.note(node, 100n);
  pass(900);
  for (const node of [first, second, third]) slots.note(node, 97n);
  expect(slots.reachedByTwo(SLOT_MS)).toBe(103n);
  pass(200);
  for (const node of [first, second]) slots.note(node, 97n);
  expect(slots.reachedByTwo(SLOT_MS)).toBe(97n);
});

test("only answers about accounts as they are now count, and unreadable ones do not", () => {
  const { slots } = start();
  const answer = (slot: unknown) => ({ context: { slot }, value: [] });
  const processed = [["address"], { commitment: "processed" }];
  for (const node of [first, second, third]) {
    slots.noteAnswer(node, "getMultipleAccounts", processed, answer(100));
    slots.noteAnswer(node, "getMultipleAccounts", [["address"], { commitment: "confirmed" }], answer(900));
    slots.noteAnswer(node, "getLatestBlockhash", [{ commitment: "processed" }], answer(900));
    slots.noteAnswer(node, "getMultipleAccounts", processed, answer("seven"));
    slots.noteAnswer(node, "getMultipleAccounts", processed, null);
  }
  expect(slots.reachedByTwo(SLOT_MS)).toBe(100n);
});

test("of two nodes that have answered of late it is known what each has come to, and of no other number", () => {
  const { slots, pass } = start();
  slots.note(first, 100n);
  expect(slots.reachedByPair(SLOT_MS)).toBeUndefined();
  slots.note(second, 120n);
  expect(slots.reachedByPair(0)).toBeUndefined();
  expect(slots.reachedByPair(SLOT_MS)).toEqual({ furthest: 120n, least: 100n });
  pass(400);
  expect(slots.reachedByPair(SLOT_MS)).toEqual({ furthest: 121n, least: 101n });
  slots.note(third, 100n);
  expect(slots.reachedByPair(SLOT_MS)).toBeUndefined();
  pass(3_100);
  slots.note(first, 108n);
  expect(slots.reachedByPair(SLOT_MS)).toBeUndefined();
  slots.note(third, 109n);
  expect(slots.reachedByPair(SLOT_MS)).toEqual({ furthest: 109n, least: 108n });
});

test("an answer that is read late says at least where the node was when asked, and at most where it has come to since", () => {
  const { slots, pass } = start();
  pass(4_000);
  slots.note(first, 100n, 0);
  slots.note(second, 100n, 4_000);
  expect(slots.reachedByPair(SLOT_MS)).toEqual({ furthest: 110n, least: 100n });
});
