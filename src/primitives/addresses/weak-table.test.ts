import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { WeakTable } from "./weak-table.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const COUNT = 20_000;
const KEPT = 100;
/** More turns than the engine takes to report a collection and the table to look at all of its entries. */
const TURNS = 1_000;

interface Value {
  readonly at: number;
}

/** Adds values of which the first alone are held. @returns these */
async function fill(table: WeakTable<Value>): Promise<readonly Value[]> {
  const held: Value[] = [];
  for (let at = 0; at < COUNT; at++) {
    const value = { at };
    table.set(`key ${at}`, value);
    if (at < KEPT) held.push(value);
  }
  // What a turn has made a weak reference to outlives that turn.
  await nextTurn();
  return held;
}

test("what was collected at once is dropped a little at a time, what is held stays", async () => {
  const table = new WeakTable<Value>();
  for (let collection = 0; collection < 2; collection++) {
    const held = await fill(table);
    expect(table.size).toBe(COUNT);
    collectGarbage();
    let most = 0;
    for (let turns = 0; turns < TURNS; turns++) {
      const before = table.size;
      await nextTurn();
      most = Math.max(most, before - table.size);
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(500);
    expect(table.size).toBe(KEPT);
    expect(held.map(({ at }) => table.get(`key ${at}`))).toEqual(held);
    expect(table.get(`key ${KEPT}`)).toBeUndefined();
  }
});
