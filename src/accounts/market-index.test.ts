import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startPostgres, type TestPostgres } from "../../test/support/postgres.ts";
import { ReusedDatabase } from "../../test/support/reused-database.ts";
import { Address } from "../primitives/address.ts";
import { writeU32 } from "../primitives/bytes.ts";
import { StoredMarketIndex } from "./market-index.ts";
import { MarketSweep } from "./store/market-sweep.ts";
import { openStore, type Store } from "./store/store.ts";

const at = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const market = { venue: "raydium_cpmm", address: at(1), mints: [at(2), at(3)] as const };
const other = { venue: "orca_whirlpool", address: at(4), mints: [at(2), at(5)] as const };

const postgres: TestPostgres | undefined = await startPostgres();
afterAll(() => postgres?.stop());
const homes = [{ name: "SQLite", databaseUrl: async (): Promise<string | undefined> => undefined }];
if (postgres !== undefined) homes.push({ name: "PostgreSQL", databaseUrl: () => postgres.createDatabase() });

let folder: string;
let store: Store;
let nowMs: number;
let warnings: string[];
const open = (network = "genesis", steadyMs?: () => number) =>
  new StoredMarketIndex({
    store,
    network,
    ...(steadyMs === undefined ? {} : { steadyMs }),
    now: () => nowMs,
    answerMs: 60_000,
    warn: (message) => void warnings.push(message),
  });

describe.each(homes)("the index of markets on $name", ({ databaseUrl }) => {
  const database = new ReusedDatabase(async () => {
    const url = await databaseUrl();
    return openStore({ dataDir: folder, ...(url === undefined ? {} : { databaseUrl: url }) });
  });
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tradewire-index-"));
  });
  beforeEach(async () => {
    store = await database.take();
    nowMs = 1_000;
    warnings = [];
  });
  afterEach(() => database.empty());
  afterAll(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });

  test("a thousand markets of a key are added and found in many turns of the loop", async () => {
    const markets = Array.from({ length: 1_000 }, (_, i) => {
      const bytes = new Uint8Array(32).fill(7);
      writeU32(bytes, 0, i);
      return { ...market, address: Address.from(bytes) };
    });
    let turn = 0;
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const madeIn: number[] = [];
    const note = () => {
      madeIn[turn] = (madeIn[turn] ?? 0) + 1;
    };
    const textOf = Address.prototype.toString;
    const { parse } = Address;
    const spies = [
      vi.spyOn(Address.prototype, "toString").mockImplementation(function (this: Address) {
        note();
        return textOf.call(this);
      }),
      vi.spyOn(Address, "parse").mockImplementation((text) => {
        note();
        return parse(text);
      }),
    ];
    try {
      await open().add("mint", markets, { venues: ["a"], atMs: 1_000 });
      const found = await open().find(["mint"]);
      expect(found!.get("mint")).toMatchObject({ searched: { venues: ["a"] }, markets: { length: 1_000 } });
    } finally {
      for (const spy of spies) spy.mockRestore();
      clearImmediate(counting);
    }
    const made = madeIn.filter((count) => count !== undefined);
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(6_000);
    expect(Math.max(...made)).toBeLessThanOrEqual(2 * 3 * 128);
  });

  test("what one process finds is there for the next, with the first and the last search", async () => {
    const index = open();
    await index.add("mint", [market, other], { venues: ["a", "b"], atMs: 1_000 });
    await index.add("mint", [market], { venues: ["a", "b", "c"], atMs: 9_000 });
    const found = await open().find(["mint", "another"]);
    expect([...found!.keys()]).toEqual(["mint"]);
    const { markets, searched } = found!.get("mint")!;
    expect(searched).toEqual({ venues: ["a", "b", "c"], firstAtMs: 1_000, atMs: 9_000 });
    expect(markets).toHaveLength(2);
    expect(markets).toEqual(expect.arrayContaining([market, other]));
  });

  test("the first search is the first that brought markets: what is new is searched for again soon, however long it was waited for", async () => {
    const index = open();
    const searchAt = async (atMs: number, markets: Parameters<typeof index.add>[1]) => {
      nowMs = atMs + 100;
      await index.add("mint", markets, { venues: ["a"], atMs });
      return (await index.find(["mint"]))!.get("mint")!.searched;
    };
    await searchAt(1_000, []);
    expect(await searchAt(7_200_000, [])).toMatchObject({ firstAtMs: 7_200_000 });
    expect(await searchAt(7_260_000, [market])).toMatchObject({ firstAtMs: 7_260_000 });
    expect(await searchAt(7_320_000, [market])).toMatchObject({ firstAtMs: 7_260_000, atMs: 7_320_000 });
  });

  test("a search is as old to other processes after the wall clock of one was set back", async () => {
    // Not of whole milliseconds, as monotonic clocks are.
    const steadyMs = () => nowMs + 3_600_000.25;
    await open("genesis", steadyMs).add("mint", [market], { venues: ["a"], atMs: steadyMs() });
    nowMs += 500;
    expect((await open().find(["mint"]))!.get("mint")!.searched).toMatchObject({ firstAtMs: 1_000, atMs: 1_000 });
    const own = (await open("genesis", steadyMs).find(["mint"]))!.get("mint")!.searched!;
    expect(steadyMs() - own.atMs).toBe(500);
  });

  test.each([
    ["address", "no address"],
    ["mint_a", ""],
    ["mint_b", "0".repeat(44)],
  ])("a market whose %s is damaged is left out, and hides no other", async (column, text) => {
    await open().add("mint", [market, other], { venues: ["a"], atMs: 1_000 });
    await open().add("another", [market], { venues: ["a"], atMs: 1_000 });
    await store.write(`update markets set ${column} = '${text}' where address = '${market.address}'`, []);
    const found = await open().find(["mint", "another"]);
    expect(found!.get("mint")!.markets).toEqual([other]);
    expect(found!.get("another")?.markets ?? []).toEqual([]);
    expect(warnings).toEqual([]);
    await open().add("mint", [market, other], { venues: ["a"], atMs: 1_000 });
    const again = (await open().find(["mint"]))!.get("mint")!;
    expect(again.markets).toEqual(expect.arrayContaining([market, other]));
    expect(again.searched).toBeDefined();
  });

  // A market that is left out may have been one of all there are.
  test("a subject with a damaged market does not count as searched", async () => {
    await open().add("mint", [market, other], { venues: ["a"], atMs: 1_000 });
    await store.write(`update markets set mint_a = '?' where address = '${market.address}'`, []);
    expect((await open().find(["mint"]))!.get("mint")!.searched).toBeUndefined();
  });

  test("a search of a time yet to come does not count: it would never be repeated", async () => {
    const index = open();
    await index.add("mint", [market], { venues: ["a"], atMs: 1_000 });
    await store.write("update market_searches set first_at_ms = 9000000000000, at_ms = 9000000000000", []);
    expect((await open().find(["mint"]))!.get("mint")!.searched).toBeUndefined();
  });

  test("markets without a search count as found, not as all there are", async () => {
    await open().add("mint", [market]);
    expect((await open().find(["mint"]))!.get("mint")).toEqual({ markets: [market] });
  });

  test("markets that are gone leave every subject", async () => {
    const index = open();
    await index.add("mint", [market, other]);
    await index.add("another", [market]);
    await index.remove([market.address]);
    const found = await index.find(["mint", "another"]);
    expect(found!.get("mint")!.markets).toEqual([other]);
    expect(found!.has("another")).toBe(false);
  });

  test("what is written and removed in the same moment is left as if each had come alone", async () => {
    const index = open();
    await Promise.all([
      index.add("mint", [market, other]),
      index.remove([market.address, other.address]),
      index.add("mint", [other], { venues: ["a"], atMs: 1_000 }),
      index.add("mint", [], { venues: ["a", "b"], atMs: 2_000 }),
    ]);
    const found = (await open().find(["mint"]))!.get("mint")!;
    expect(found.markets).toEqual([other]);
    expect(found.searched).toEqual({ venues: ["a", "b"], firstAtMs: 1_000, atMs: 2_000 });
  });

  test("what was found is written at the end, without a wait", async () => {
    const index = open();
    void index.add("mint", [market]);
    await index.close();
    expect((await open().find(["mint"]))!.get("mint")!.markets).toEqual([market]);
  });

  test("a first buy asks the database once and commits twice, and ten at once as often", async () => {
    const counted = { reads: 0, writes: 0 };
    const { query, write } = store;
    const counting: Store = {
      ...store,
      query(sql, parameters) {
        counted.reads += 1;
        return query(sql, parameters);
      },
      write(sql, parameters) {
        counted.writes += 1;
        return write(sql, parameters);
      },
    };
    const index = new StoredMarketIndex({ store: counting, network: "n", now: () => nowMs, warn: () => {} });
    const buy = async (mint: string) => {
      await index.find([mint, `${mint}:SOL`, `${mint}:USDC`]);
      await index.add(mint, [market], { venues: ["a"], atMs: 1_000 });
    };
    await buy("one");
    expect(counted).toEqual({ reads: 1, writes: 2 });
    await Promise.all(Array.from({ length: 10 }, (_, n) => buy(`mint${n}`)));
    expect(counted).toEqual({ reads: 2, writes: 4 });
  });

  test("markets of one chain are not found for another", async () => {
    await open("mainnet").add("mint", [market]);
    expect((await open("devnet").find(["mint"]))!.size).toBe(0);
  });

  test("hundreds of subjects are written and found, many in one query", async () => {
    const index = open();
    const keys = Array.from({ length: 250 }, (_, n) => `mint${n}`);
    await Promise.all(keys.map((key) => index.add(key, [market], { venues: ["a"], atMs: 1 })));
    const found = await index.find(keys);
    expect(found!.size).toBe(250);
  });

  describe("swept of what nobody has searched for 30 days", () => {
    const DAY_MS = 24 * 3_600_000;
    const searchAt = (key: string, atMs: number) => {
      nowMs = atMs;
      return open().add(key, [market, other], { venues: ["a"], atMs });
    };

    test("keeps the markets of a subject in use, and forgets those of another with its search", async () => {
      await searchAt("idle", 0);
      await searchAt("used", 0);
      await searchAt("used", 10 * DAY_MS);
      await open().add("found in part", [market]);
      const sweep = new MarketSweep(store, 30 * DAY_MS);
      await sweep.step(30 * DAY_MS);
      expect((await open().find(["idle"]))!.get("idle")).toMatchObject({ searched: { atMs: 0 } });
      for (const day of [30.1, 40]) {
        await sweep.step(day * DAY_MS);
        // The next step finds no further subject, and begins anew.
        await sweep.step(day * DAY_MS);
        const found = await open().find(["idle", "used", "found in part"]);
        expect([...found!.keys()].sort()).toEqual(["found in part", "used"]);
        expect(found!.get("used")!.markets).toHaveLength(2);
      }
      for (let step = 0; step < 2; step++) await sweep.step(40.1 * DAY_MS);
      for (const table of ["markets", "market_searches"] as const)
        expect(await store.run((db) => db.selectFrom(table).selectAll().execute())).toEqual([]);
    });

    test("keeps the markets of a subject that is searched again once its search is forgotten", async () => {
      await searchAt("idle", 0);
      const sweep = new MarketSweep(store, 30 * DAY_MS);
      const searching: Store = {
        ...store,
        async run(work) {
          const done = await store.run(work);
          const left = await store.run((db) => db.selectFrom("market_searches").selectAll().execute());
          if (left.length === 0) await searchAt("idle", 31 * DAY_MS);
          return done;
        },
      };
      await new MarketSweep(searching, 30 * DAY_MS).step(31 * DAY_MS);
      for (let step = 0; step < 4; step++) await sweep.step(32 * DAY_MS);
      const { markets, searched } = (await open().find(["idle"]))!.get("idle")!;
      expect(searched).toMatchObject({ atMs: 31 * DAY_MS });
      expect(markets).toHaveLength(2);
    });

    test("walks through thousands of subjects, some hundred a step", async () => {
      const rows = Array.from({ length: 1_200 }, (_, i) => `subject ${i}`);
      await store.run((db) =>
        db
          .insertInto("market_searches")
          .values(rows.map((subject) => ({ subject, venues: "a", first_at_ms: 0, at_ms: 0 })))
          .execute(),
      );
      const market = { address: "address", venue: "a", mint_a: "a", mint_b: "b", found_at_ms: 0 };
      await store.run((db) =>
        db
          .insertInto("markets")
          .values(rows.map((subject) => ({ ...market, subject })))
          .execute(),
      );
      const left = async () => {
        const [of] = await store.run((db) =>
          db
            .selectFrom("markets")
            .select(({ fn }) => fn.countAll<number>().as("count"))
            .execute(),
        );
        return Number(of!.count);
      };
      const sweep = new MarketSweep(store, 30 * DAY_MS);
      const counts: number[] = [];
      for (let step = 0; step < 3; step++) {
        await sweep.step(31 * DAY_MS);
        counts.push(await left());
      }
      expect(counts).toEqual([700, 200, 0]);
    });

    test("keeps everything if its life is 0", async () => {
      await searchAt("idle", 0);
      const sweep = new MarketSweep(store, 0);
      for (let step = 0; step < 3; step++) await sweep.step(1_000 * DAY_MS);
      expect((await open().find(["idle"]))!.get("idle")!.markets).toHaveLength(2);
    });
  });
});

test("without the database nothing is known and nothing fails; one line says so", async () => {
  folder = mkdtempSync(join(tmpdir(), "tradewire-index-"));
  store = await openStore({ dataDir: folder });
  warnings = [];
  const index = open();
  await store.close();
  expect(await index.find(["mint"])).toBe(undefined);
  await index.add("mint", [market]);
  expect(await index.find(["mint"])).toBe(undefined);
  expect(warnings).toHaveLength(1);
  rmSync(folder, { recursive: true });
});

test("a database that did not answer is asked again seconds later, however far the wall clock is set back meanwhile", async () => {
  const HOUR_MS = 3_600_000;
  let wallMs = 10 * HOUR_MS;
  let steadyMs = wallMs;
  let isAway = true;
  const query = async () => {
    if (isAway) throw new Error("away");
    return [];
  };
  const index = new StoredMarketIndex({
    store: { isEmbedded: true, query } as unknown as Store,
    network: "genesis",
    now: () => wallMs,
    steadyMs: () => steadyMs,
    warn: () => {},
  });
  expect(await index.find(["mint"])).toBe(undefined);
  isAway = false;
  wallMs -= HOUR_MS;
  steadyMs += 6_000;
  expect(await index.find(["mint"])).toEqual(new Map());
});

test("a database that a busy machine makes slow by a second is waited for: a search of the chain costs more", async () => {
  vi.useFakeTimers();
  try {
    const answer = Promise.withResolvers<never>();
    const slow = { isEmbedded: true, query: () => answer.promise } as unknown as Store;
    const index = new StoredMarketIndex({ store: slow, network: "genesis", now: () => nowMs, warn: () => {} });
    const finding = index.find(["mint"]);
    await vi.advanceTimersByTimeAsync(1_000);
    answer.resolve([] as never);
    expect(await finding).toEqual(new Map());
  } finally {
    vi.useRealTimers();
  }
});

test("a process that stands still blames no database: an answer that came meanwhile counts", async () => {
  // Answers within two turns of the loop: after the timers that are due by then.
  const answered = () => new Promise((resolve) => setImmediate(() => setImmediate(() => resolve([]))));
  const prompt = { isEmbedded: true, query: answered } as unknown as Store;
  const index = new StoredMarketIndex({
    store: prompt,
    network: "genesis",
    now: () => 1,
    answerMs: 50,
    warn: () => {},
  });
  const finding = index.find(["mint"]);
  await Promise.resolve();
  const untilMs = performance.now() + 60;
  while (performance.now() < untilMs);
  expect(await finding).toEqual(new Map());
});
