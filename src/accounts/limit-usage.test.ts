import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { plansOf } from "../../test/support/query-plans.ts";
import { createLimitUsage } from "./limit-usage.ts";
import { openStore, type Store } from "./store/store.ts";

const SILENCE = new Map<string, number>();

let folder: string;
let store: Store;
let clock: { nowMs: number };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tradewire-limits-"));
  store = await openStore({ dataDir: folder });
  clock = { nowMs: Date.UTC(2026, 10, 20, 12) };
});

afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A process that shares limits, whose clock is ahead of the others' by so much. */
async function begin(owner: string, aheadMs = 0) {
  const usage = createLimitUsage(
    store,
    owner,
    () => clock.nowMs + aheadMs,
    () => clock.nowMs,
    1_000,
  );
  await usage.exchange(SILENCE);
  return usage;
}
const rows = async () => (await store.run((db) => db.selectFrom("limit_usage").selectAll().execute())).length;

it("sends each use once to each other process", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  await one.exchange(new Map([["build key", 5]]));
  expect(await two.exchange(new Map([["build key", 2]]))).toEqual(new Map([["build key", 5]]));
  expect(await one.exchange(new Map([["build key", 1]]))).toEqual(new Map([["build key", 2]]));
  expect(await two.exchange(SILENCE)).toEqual(new Map([["build key", 1]]));
  expect(await two.exchange(SILENCE)).toEqual(SILENCE);
});

it("does not charge a process with what was used before it began", async () => {
  const one = await begin("one");
  await one.exchange(new Map([["build key", 1_000]]));
  const late = await begin("late");
  await one.exchange(new Map([["build key", 1]]));
  expect(await late.exchange(SILENCE)).toEqual(new Map([["build key", 1]]));
});

it("charges use after a pause, and does not charge earlier use again", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  await one.exchange(new Map([["build key", 100_000]]));
  await two.exchange(SILENCE);
  let calls = 6;
  for (const pauseMs of [30_000, 60_001, 61_000, 90_000, 3_600_000]) {
    clock.nowMs += pauseMs;
    await two.exchange(SILENCE);
    await one.exchange(new Map([["build key", --calls]]));
    expect(await two.exchange(SILENCE), `after ${pauseMs} ms`).toEqual(new Map([["build key", calls]]));
  }
});

it("charges use after a pause, however much it is beside earlier use", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  for (const [pauseMs, calls] of [
    [0, 6],
    [61_000, 6],
    [61_000, 7],
    [30_000, 7],
    [119_000, 8],
  ] as const) {
    clock.nowMs += pauseMs;
    await one.exchange(new Map([["build key", calls]]));
    expect(await two.exchange(SILENCE), `after ${pauseMs} ms`).toEqual(new Map([["build key", calls]]));
  }
});

it("keeps nothing of callers that have not called for a minute", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  const callers = Array.from({ length: 2_500 }, (_, i) => [`address-read 198.51.100.${i}`, 1] as const);
  await one.exchange(new Map(callers));
  expect((await two.exchange(SILENCE)).size).toBe(2_500);
  clock.nowMs += 60_001;
  await one.exchange(SILENCE);
  expect(await rows()).toBe(0);
});

it("receives usage from processes whose clocks are minutes behind, and counts each once", async () => {
  const [one, two, ahead] = [await begin("one"), await begin("two"), await begin("ahead", 120_000)];
  let received = 0;
  for (let round = 0; round < 5; round++) {
    clock.nowMs += 1_000;
    await one.exchange(new Map([["build key", 10]]));
    received += (await two.exchange(SILENCE)).get("build key") ?? 0;
    expect(await ahead.exchange(SILENCE)).toEqual(new Map([["build key", 10]]));
  }
  expect(received).toBe(50);
});

it("a clock that jumps ahead makes no usage of others old: each entry is read, once", async () => {
  let aheadMs = 0;
  const now = () => clock.nowMs;
  const jumping = createLimitUsage(store, "jumping", () => clock.nowMs + aheadMs, now, 1_000);
  const [one, two] = [await begin("one"), await begin("two")];
  await jumping.exchange(SILENCE);
  let [received, jumped] = [0, 0];
  for (let round = 0; round < 6; round++) {
    clock.nowMs += 1_000;
    if (round === 2) aheadMs = 3_600_000;
    await one.exchange(new Map([["build key", 10]]));
    jumped += (await jumping.exchange(new Map([["build other", 1]]))).get("build key") ?? 0;
    received += (await two.exchange(SILENCE)).get("build key") ?? 0;
  }
  expect([received, jumped]).toEqual([60, 60]);
});

it("charges what was used elsewhere, whichever statement the database failed at in between", async () => {
  const one = await begin("one");
  let left = Number.POSITIVE_INFINITY;
  const answering = <T>(work: () => Promise<T>): Promise<T> =>
    left-- === 0 ? Promise.reject(new Error("away")) : work();
  const failing: Store = {
    ...store,
    run: (work) => answering(() => store.run(work)),
    query: (text, parameters) => answering(() => store.query(text, parameters)),
    write: (text, parameters) => answering(() => store.write(text, parameters)),
  };
  const now = () => clock.nowMs;
  const two = createLimitUsage(failing, "two", now, now, 1_000);
  await two.exchange(SILENCE);
  for (let at = 0; at < 4; at++) {
    await one.exchange(new Map([["build key", 5]]));
    left = at;
    await expect(two.exchange(new Map([["build other", 1]])), `at statement ${at}`).rejects.toThrow("away");
    expect(await two.exchange(SILENCE), `at statement ${at}`).toEqual(new Map([["build key", 5]]));
    expect(await two.exchange(SILENCE)).toEqual(SILENCE);
    // So that the next exchange has rows to delete.
    clock.nowMs += 61_000;
  }
});

it("reads and deletes rows by who wrote them and when, not among all of the last minute", async () => {
  const [one, two] = [await begin("one"), await begin("two")];
  const callers = Array.from({ length: 2_000 }, (_, i) => [`address-read 198.51.100.${i}`, 1] as const);
  await one.exchange(new Map(callers));
  await two.exchange(new Map(callers));
  const plans = await plansOf(store, async (noting) => {
    const three = createLimitUsage(
      noting,
      "two",
      () => clock.nowMs,
      () => clock.nowMs,
      1_000,
    );
    await three.exchange(SILENCE);
    clock.nowMs += 61_000;
    await three.exchange(SILENCE);
  });
  expect(plans).toContain("limit_usage_by_time (owner=? AND at_ms>?)");
  expect(plans).toContain("limit_usage_by_time (owner=? AND at_ms<?)");
  expect(plans).not.toContain("SCAN limit_usage");
});

it("deletes what a process left that writes no more", async () => {
  const [one] = [await begin("one"), await begin("two")];
  const ended = await begin("ended", 300_000);
  await ended.exchange(new Map([["build key", 10]]));
  for (let second = 0; second < 122; second++) {
    await one.exchange(SILENCE);
    clock.nowMs += 1_000;
  }
  await one.exchange(SILENCE);
  expect(await rows()).toBe(0);
});

it("reads of another process only what it wrote since the last exchange", async () => {
  const [one, two] = [await begin("one"), await begin("two", -5_000)];
  const names = Array.from({ length: 50 }, (_, i) => `build key${i}`);
  await one.exchange(new Map(names.map((name) => [name, 1])));
  const read: number[] = [];
  const counting: Store = {
    ...store,
    run: async (work) => {
      const rows = await store.run(work);
      if (Array.isArray(rows)) read.push(rows.length);
      return rows;
    },
  };
  const three = createLimitUsage(
    counting,
    "three",
    () => clock.nowMs,
    () => clock.nowMs,
    1_000,
  );
  await three.exchange(SILENCE);
  await two.exchange(new Map([["build key0", 1]]));
  clock.nowMs -= 2_000;
  await one.exchange(new Map([["build key7", 1]]));
  expect(await three.exchange(SILENCE)).toEqual(
    new Map([
      ["build key0", 1],
      ["build key7", 1],
    ]),
  );
  await three.exchange(SILENCE);
  expect(read.filter((rows) => rows > 1)).toEqual([50, 2]);
});
