import { fileURLToPath } from "node:url";
import { BenchChild, serviceArgs } from "./child.ts";
import { median } from "./measure.ts";
import { BUILD_PROBE_NAMES, type BuildProbe, type BuildQuestion } from "./probes/build-probes.ts";
import type { BenchRow } from "./venues.ts";

/** Batches of each probe: the first few compile. */
const WARM_ROUNDS = 6;
const ROUNDS = 15;
/** Batches of the probe of one market before any counts: its builds are few, and half compiled they take half as long again. */
const SETTLING = 100;
/** Batches whose allocations are counted. */
const COUNTED = 5;
const MANY_PROMISE = { manyOneUpdate: "≤ 2 × one market", manyAllUpdated: "≤ 4 × one market" } as const;

/** A process that makes builds of the revision in `root`. */
export async function startBuilds(root: string, args: readonly string[] = []): Promise<BenchChild> {
  const child = new BenchChild(fileURLToPath(new URL("probes/builds.ts", `file://${root}/test/bench/`)), root, {
    args,
    nodeArgs: serviceArgs(root),
  });
  await child.next();
  return child;
}

/** One batch. Microseconds, or bytes. */
export async function askBuilds(child: BenchChild, question: BuildQuestion): Promise<number> {
  return (await child.ask<{ readonly value: number }>(question)).value;
}

/** Lets builds on one market be compiled. */
export async function settleBuilds(child: BenchChild): Promise<void> {
  for (let batch = 0; batch < SETTLING; batch++) await askBuilds(child, { probe: "oneMarket" });
}

/** Processor time of a build by probe, batches of all probes in turn; and rows that show it. */
export async function buildRows(root: string): Promise<readonly BenchRow[]> {
  const child = await startBuilds(root);
  await settleBuilds(child);
  const times = new Map<BuildProbe, number[]>(BUILD_PROBE_NAMES.map((probe) => [probe, []]));
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    for (const [probe, taken] of times) {
      const time = await askBuilds(child, { probe });
      if (round >= 0) taken.push(time);
    }
  }
  const kibibytes = async (probe: BuildProbe) => {
    const counted: number[] = [];
    for (let round = 0; round < COUNTED; round++) counted.push(await askBuilds(child, { probe, bytes: true }));
    // After a collection in the middle of a batch, less is left.
    return `${(Math.max(...counted) / 1024).toFixed(1)} KiB`;
  };
  const timeOf = (probe: BuildProbe) => median(times.get(probe)!);
  const hash = timeOf("hash");
  const row = (what: string, probe: BuildProbe, promise: string, more = ""): BenchRow => [
    `warm build, ${what}${more}`,
    `${timeOf(probe).toFixed(1)} µs`,
    `${(timeOf(probe) / hash).toFixed(1)}`,
    promise,
  ];
  const many = (what: string, probe: BuildProbe, promise: string): BenchRow => [
    `warm build, 64 markets of a mint, ${what}`,
    `${timeOf(probe).toFixed(1)} µs`,
    `${(timeOf(probe) / timeOf("oneMarket")).toFixed(1)} × one market`,
    promise,
  ];
  const rows: BenchRow[] = [
    row("one pair", "onePair", "≤ 6", `, ${await kibibytes("onePair")}`),
    row("spread", "spread", "≤ 10", `, ${await kibibytes("spread")}`),
    row("spread, its market changed before", "updated", "", `, ${await kibibytes("updated")}`),
    row("one market of a mint", "oneMarket", ""),
    row("one market of a mint, after updates of 512 others", "oneAfterUpdates", ""),
    many("unchanged", "many", ""),
    many("one changed before", "manyOneUpdate", MANY_PROMISE.manyOneUpdate),
    many("all changed before", "manyAllUpdated", MANY_PROMISE.manyAllUpdated),
    [
      "warm build, 1,000 markets of a mint found, the best 64 live",
      `${timeOf("foundThousand").toFixed(1)} µs`,
      `${(timeOf("foundThousand") / timeOf("foundMany")).toFixed(1)} × 64 found (${timeOf("foundMany").toFixed(1)} µs)`,
      "as 64",
    ],
    ["an update of one of 64 markets", `${timeOf("manyUpdate").toFixed(1)} µs`, "", ""],
  ];
  child.close();
  return rows;
}
