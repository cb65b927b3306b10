import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { SlotTree } from "./slot-tree.ts";

function treeOf(...links: readonly (readonly [number, number])[]): SlotTree {
  const tree = new SlotTree();
  for (const [slot, parent] of links) tree.begin(BigInt(slot), BigInt(parent));
  return tree;
}
const onChain = (tree: SlotTree, ...slots: number[]) => slots.filter((slot) => tree.isOnChain(BigInt(slot)));

test("the newest slot and its ancestors are the chain; unknown slots may be", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 11], [13, 11]);
  expect(tree.head).toBe(13n);
  expect(onChain(tree, 5, 9, 10, 11, 12, 13, 14)).toEqual([5, 9, 10, 11, 13, 14]);
});

test("a dead slot takes its descendants with it", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 11], [13, 12]);
  expect(tree.kill(11n)).toEqual(expect.arrayContaining([11n, 12n, 13n]));
  expect(tree.head).toBe(10n);
  expect(onChain(tree, 10, 11, 12, 13)).toEqual([10]);
  expect(tree.begin(14n, 13n).turned).toEqual([]);
  expect(tree.head).toBe(10n);
  tree.begin(15n, 10n);
  expect(onChain(tree, 10, 11, 12, 13, 14, 15)).toEqual([10, 15]);
});

test("a confirmed slot decides between branches, even against a newer one", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 10]);
  expect(tree.head).toBe(12n);
  expect(tree.confirm(11n)).toEqual(expect.arrayContaining([11n, 12n]));
  expect(tree.head).toBe(11n);
  tree.begin(13n, 12n);
  expect(tree.head).toBe(11n);
});

test("a slot with an unknown parent is a gap, unless it branches off before everything known", () => {
  const tree = treeOf([10, 9], [11, 10]);
  expect(tree.begin(12n, 8n).isGap).toBe(false);
  expect(tree.begin(14n, 13n).isGap).toBe(true);
  expect(tree.begin(15n, 14n).isGap).toBe(false);
});

test("a slot with a replaced bank moves to its new parent", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 11]);
  tree.begin(12n, 10n);
  expect(onChain(tree, 10, 11, 12)).toEqual([10, 12]);
});

test("slots off the chain are known as such for a while below the root", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 10], [13, 12]);
  tree.rootAt(13n);
  expect(onChain(tree, 10, 11, 12, 13)).toEqual([10, 12, 13]);
  for (let slot = 14; slot < 600; slot++) tree.begin(BigInt(slot), BigInt(slot - 1));
  tree.rootAt(599n);
  expect(onChain(tree, 11)).toEqual([11]);
});

test("in any order of events, the chain is a line of parents without dead slots", () => {
  const link = fc.record({ slot: fc.integer({ min: 2, max: 40 }), back: fc.integer({ min: 1, max: 4 }) });
  const step = fc.oneof(
    link.map((one) => ({ kind: "begin" as const, ...one })),
    fc.integer({ min: 2, max: 40 }).map((slot) => ({ kind: "kill" as const, slot })),
    fc.integer({ min: 2, max: 40 }).map((slot) => ({ kind: "confirm" as const, slot })),
    fc.integer({ min: 2, max: 40 }).map((slot) => ({ kind: "root" as const, slot })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const tree = new SlotTree();
      const parents = new Map<bigint, bigint>();
      const dead = new Set<bigint>();
      for (const one of steps) {
        const slot = BigInt(one.slot);
        if (one.kind === "begin") {
          if (slot > tree.root && !dead.has(slot)) parents.set(slot, slot - BigInt(one.back));
          tree.begin(slot, slot - BigInt(one.back));
        } else if (one.kind === "kill") {
          if (slot > tree.root) dead.add(slot);
          tree.kill(slot);
        } else if (one.kind === "confirm") tree.confirm(slot);
        else tree.rootAt(slot);
        let at = tree.head;
        while (at > tree.root && parents.has(at)) {
          expect(tree.isOnChain(at)).toBe(true);
          expect(dead.has(at)).toBe(false);
          at = parents.get(at)!;
        }
      }
    }),
  );
});

test("slots that a node makes up, dead, confirmed or begun, are held up to a bound, and none of them decides a fork", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 11]);
  for (let i = 1; i <= 20_000; i++) tree.kill(BigInt(1_000 + i * 7));
  expect(tree.size).toBeLessThan(100);
  tree.confirm(1n << 60n);
  tree.begin(13n, 11n);
  tree.confirm(12n);
  expect(tree.head).toBe(12n);
  // Each on a parent that was never reported, without a root.
  for (let slot = 14; slot < 20_000; slot += 2) {
    tree.begin(BigInt(slot), BigInt(slot - 1));
    tree.kill(BigInt(slot + 1));
  }
  expect(tree.size).toBeLessThan(3_000);
});

test("a slot that is said to begin on one before the root takes nothing off the chain; a new one shows that something is missing", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 11]);
  tree.rootAt(11n);
  expect(tree.begin(13n, 7n)).toEqual({ turned: [], isGap: true });
  expect(tree.begin(12n, 0n)).toEqual({ turned: [], isGap: false });
  expect(tree.head).toBe(12n);
  expect(onChain(tree, 11, 12)).toEqual([11, 12]);
});

test("without roots reported, a slot off the chain is not taken for one of it because it is as old as the bound", () => {
  const tree = treeOf([10, 9], [11, 10], [12, 10]);
  for (let slot = 13; slot < 2_000 && tree.root < 11n; slot++) {
    // Each on the one before the last: every other slot is off the chain.
    tree.begin(BigInt(slot), BigInt(slot - (slot % 2 === 0 ? 2 : 1)));
  }
  const off = Array.from({ length: 500 }, (_, i) => Number(tree.head) - 600 + i).filter((slot) => slot % 2 === 1);
  expect(onChain(tree, ...off)).toEqual([]);
});

test("a fork among a thousand slots without a root costs a few looks at each, however many of them are dead", () => {
  const tree = treeOf([10, 9]);
  for (let slot = 11; slot < 1_010; slot++) tree.begin(BigInt(slot), BigInt(slot - 1));
  const looks = vi.spyOn(Map.prototype, "get");
  tree.begin(1_011n, 1_008n);
  expect(tree.head).toBe(1_011n);
  expect(looks.mock.calls.length).toBeLessThan(10_000);
  looks.mockClear();
  tree.kill(12n);
  expect(tree.head).toBe(11n);
  expect(looks.mock.calls.length).toBeLessThan(10_000);
  looks.mockRestore();
});

test("a slot far ahead of its parent costs a few looks, not one at each slot between", () => {
  const tree = treeOf([10, 9], [11, 10]);
  const looks = vi.spyOn(Set.prototype, "has");
  tree.begin(1_000_000n, 11n);
  const count = looks.mock.calls.length;
  looks.mockRestore();
  expect(count).toBeLessThan(10_000);
  expect([tree.head, tree.root]).toEqual([1_000_000n, 11n]);
  expect(onChain(tree, 11, 12, 999_999, 1_000_000)).toEqual([11, 1_000_000]);
});
