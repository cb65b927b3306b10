import { expect, test } from "vitest";
import { type Indexed, IndexedSet } from "./indexed-set.ts";
import { type Ordered, ReadOrder } from "./read-order.ts";

interface Item extends Indexed, Ordered<Item> {
  readonly name: number;
}

const items = (count: number): Item[] =>
  Array.from({ length: count }, (_, name) => ({ name, index: -1, before: undefined, after: undefined }));
const names = (some: Iterable<Item>) => Array.from(some, ({ name }) => name);

test("every item gets its turn, whatever comes and goes meanwhile", () => {
  const all = items(10);
  const set = new IndexedSet<Item>();
  for (const item of [...all, ...all]) set.add(item);
  expect(set.size).toBe(10);
  expect([names(set.next(4)), names(set.next(4)), names(set.next(4))]).toEqual([
    [0, 1, 2, 3],
    [4, 5, 6, 7],
    [8, 9, 0, 1],
  ]);
  for (const item of [all[0]!, all[9]!, all[9]!, all[5]!]) set.delete(item);
  expect(names(set.next(100)).toSorted()).toEqual([1, 2, 3, 4, 6, 7, 8]);
  for (const item of set.next(100)) set.delete(item);
  expect([set.size, set.next(3)]).toEqual([0, []]);
  set.add(all[5]!);
  expect(names(set.next(3))).toEqual([5]);
});

function walk(order: ReadOrder<Item>): Item[] {
  const items: Item[] = [];
  for (let item = order.first; item !== undefined; item = item.after) items.push(item);
  return items;
}

test("an item that is read goes to the end of the order, and a removed one leaves no hole", () => {
  const [a, b, c, d] = items(4) as [Item, Item, Item, Item];
  const order = new ReadOrder<Item>();
  for (const item of [a, b, c, d]) order.add(item);
  const read = (item: Item) => {
    order.delete(item);
    order.add(item);
  };
  for (const item of [b, d, a]) read(item);
  expect(names(walk(order))).toEqual([2, 1, 3, 0]);
  for (const item of [c, a, d]) order.delete(item);
  expect(names(walk(order))).toEqual([1]);
  order.delete(b);
  expect(names(walk(order))).toEqual([]);
  read(c);
  expect(names(walk(order))).toEqual([2]);
});
