import { once } from "node:events";
import { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { takeDrop } from "./dropped-bodies.ts";

const PLACES = 16;
const carrier = () => new Duplex({ read() {}, write: (_, __, done) => done() });

/** Takes all places that are free, and gives them back. @returns how many there were */
async function freePlaces(): Promise<number> {
  const taken: Duplex[] = [];
  for (;;) {
    const next = carrier();
    if (takeDrop(1_000, next) === 0) break;
    taken.push(next);
  }
  await Promise.all(taken.map((one) => once(one.destroy(), "close")));
  return taken.length;
}

it("has a place for each of sixteen bodies, until what carries it closes", async () => {
  expect(await freePlaces()).toBe(PLACES);
  expect(await freePlaces()).toBe(PLACES);
});

it("drops a body that declares no length, and none that is longer than any", async () => {
  const [some, long] = [carrier(), carrier()];
  expect(takeDrop(undefined, some)).toBe(8 * 1024 * 1024);
  expect(takeDrop(8 * 1024 * 1024 + 1, long)).toBe(0);
  await once(some.destroy(), "close");
  expect(await freePlaces()).toBe(PLACES);
});

it("gives no place to what has closed: nothing would give it back", async () => {
  for (let i = 0; i < PLACES; i++) {
    const closed = carrier();
    const end = once(closed.destroy(), "close");
    expect(takeDrop(1_000, closed)).toBe(0);
    await end;
    expect(takeDrop(1_000, closed)).toBe(0);
  }
  expect(await freePlaces()).toBe(PLACES);
});
