import { afterEach, expect, test, vi } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { converse, fooled } from "./conversations.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { buildSample, sampleVenues } from "./sample-builds.ts";

/** The whole measure is 10 000 conversations, run by `npm run slow:client`. */
const COUNT = Number(process.env.CONVERSATIONS ?? 200);

afterEach(() => {
  vi.useRealTimers();
});

/** Honest builds of whole trades, one of each venue. */
async function honestBuilds(): Promise<HonestBuild[]> {
  const random = createRandom(41);
  const builds: HonestBuild[] = [];
  for (const venue of sampleVenues) {
    for (;;) {
      const build = await buildSample(random, venue);
      const isWhole = build !== undefined && build.order.amount !== undefined && build.lookupTables.size === 0;
      if (!isWhole || build.form === "tip") continue;
      builds.push(build);
      break;
    }
  }
  return builds;
}

test("no hostile answer makes the client sign twice, deny a signature, or wait and ask beyond its patience", {
  timeout: 3_600_000,
}, async () => {
  const builds = await honestBuilds();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
  const elapse = async (done: Promise<unknown>) => {
    let isDone = false;
    void done.finally(() => {
      isDone = true;
    });
    for (let steps = 0; !isDone; steps++) {
      if (steps > 10_000) throw new Error("it never ends");
      await vi.advanceTimersByTimeAsync(500);
    }
  };
  const found: string[] = [];
  const ends = new Map<string, number>();
  for (let seed = 0; seed < COUNT; seed++) {
    const talk = await converse(createRandom(seed), builds[seed % builds.length]!, elapse);
    const reason = fooled(talk);
    if (reason !== undefined) found.push(`seed ${seed}: ${reason}\n${talk.log.join("\n")}`);
    const end = talk.trade?.status ?? (talk.failure as { code: string }).code;
    const kind = `${talk.signatures.length === 0 ? "unsigned" : "signed"} ${end}`;
    ends.set(kind, (ends.get(kind) ?? 0) + 1);
  }
  expect(found.slice(0, 3)).toEqual([]);
  // Most of what a service could lie about comes after the signature.
  const signed = [...ends].reduce((sum, [kind, count]) => (kind.startsWith("signed") ? sum + count : sum), 0);
  expect(signed).toBeGreaterThan(COUNT / 2);
  expect(ends.get("signed confirmed")).toBeGreaterThan(0);
  expect([...ends.keys()].some((kind) => kind.startsWith("unsigned UNEXPECTED_TRANSACTION"))).toBe(true);
  process.stdout.write(
    `${COUNT} conversations, ${signed} of them signed: ${JSON.stringify(Object.fromEntries([...ends].sort()))}\n`,
  );
});
