import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { MarketRow, MarketRows, SearchRow } from "./market-rows.ts";
import { MarketWrites } from "./market-writes.ts";

const market = (subject: string, address: string): MarketRow => ({
  ...{ subject, address, venue: "raydium_cpmm" },
  ...{ mint_a: "a", mint_b: "b", found_at_ms: 1 },
});
const search = (subject: string, atMs: number): SearchRow => ({
  ...{ subject, venues: "raydium_cpmm", first_at_ms: atMs, at_ms: atMs },
});

let written: string[];
let failures: unknown[];
let insert: () => Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  failures = [];
  insert = async () => {};
});
afterEach(() => void vi.useRealTimers());

function start(): MarketWrites {
  const rows: MarketRows = {
    find: async () => [],
    async insert(some) {
      written.push(`insert ${some.map(({ address }) => address).join(" ")}`);
      await insert();
    },
    async noteSearched(some) {
      written.push(`searched ${some.map(({ subject, first_at_ms, at_ms }) => `${subject} ${first_at_ms}-${at_ms}`)}`);
    },
    async remove(some) {
      written.push(`remove ${some.join(" ")}`);
    },
  };
  return new MarketWrites({ rows, fail: (error) => void failures.push(error) });
}

test("a search is noted after all of its markets, and not if one of them cannot be written", async () => {
  const writes = start();
  const adding = writes.add(
    Array.from({ length: 501 }, (_, i) => market("mint", `${i}`)),
    search("mint", 1),
  );
  await vi.advanceTimersByTimeAsync(100);
  await adding;
  expect(written.map((one) => one.split(" ")[0])).toEqual(["insert", "insert", "searched"]);
  written = [];
  insert = () => Promise.reject(new Error("disk full"));
  const failing = writes.add([market("mint", "x")], search("mint", 2));
  await vi.advanceTimersByTimeAsync(100);
  await failing;
  expect(written).toEqual(["insert x"]);
  expect(failures).toHaveLength(1);
  // The next ones are written all the same.
  insert = async () => {};
  const next = writes.add([market("mint", "y")], undefined);
  await vi.advanceTimersByTimeAsync(100);
  await next;
  expect(written).toEqual(["insert x", "insert y"]);
});

test("writes wait for others, while the database is busy as for a moment, and for no more than a thousand", async () => {
  const writes = start();
  const busy = Promise.withResolvers<void>();
  insert = () => busy.promise;
  void writes.add([market("mint", "first")], undefined);
  await vi.advanceTimersByTimeAsync(100);
  for (let i = 0; i < 1_200; i++) void writes.add([], search("mint", i));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(written).toEqual(["insert first"]);
  busy.resolve();
  await vi.advanceTimersByTimeAsync(100);
  expect(written).toEqual(["insert first", "searched mint 0-999"]);
});

test("the end waits a second for what is being written, and drops what waits behind it", async () => {
  const writes = start();
  const stuck = Promise.withResolvers<void>();
  insert = () => stuck.promise;
  void writes.add([market("mint", "first")], search("mint", 1));
  await vi.advanceTimersByTimeAsync(100);
  void writes.add([market("mint", "second")], search("mint", 2));
  const closing = writes.close();
  await vi.advanceTimersByTimeAsync(1_000);
  stuck.resolve();
  await closing;
  expect(written).toEqual(["insert first"]);
  await writes.add([market("mint", "late")], undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test("the markets of a hub are kept, however many there are", async () => {
  const writes = start();
  const markets = Array.from({ length: 200_000 }, (_, i) => market("hub", `${i}`));
  void writes.add(markets, search("hub", 5));
  void writes.remove(["none"]);
  await writes.close();
  expect(failures).toEqual([]);
  expect(written.shift()).toBe("remove none");
  expect(written).toHaveLength(401);
  expect(written.at(-1)).toBe("searched hub 5-5");
});

test("markets that are removed before they are written cost one walk over those that wait, however many are removed", async () => {
  const writes = start();
  const markets = Array.from({ length: 2_000 }, (_, i) => market("hub", `${i}`));
  let looks = 0;
  const counted = markets.map((row) => ({
    ...row,
    get address() {
      looks += 1;
      return row.address;
    },
  }));
  void writes.add(counted, undefined);
  for (let i = 0; i < 500; i++) void writes.remove([`${4 * i}`]);
  void writes.add([market("hub", "4")], undefined);
  await writes.close();
  expect(looks).toBeLessThan(10_000);
  const inserted = written.filter((one) => one.startsWith("insert")).flatMap((one) => one.split(" ").slice(1));
  expect(inserted).toHaveLength(1_501);
  expect(inserted).toContain("4");
  expect(inserted).not.toContain("8");
});
