import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askBuilds, settleBuilds, startBuilds } from "./builds-bench.ts";
import { median } from "./measure.ts";
import type { BuildProbe } from "./probes/build-probes.ts";
import type { BenchRow } from "./venues.ts";
import { measureCalls, startCallers, startSpreadServer } from "./wires/measured-calls.ts";

/** A tenth of the wallets and mints: two revisions are in memory at once. */
const SCALE = ["10"];
const WARM_ROUNDS = 6;
const ROUNDS = 15;
const WARM_CALLS = 4_000;
const CALLS = 1_000;
const PROBES: readonly BuildProbe[] = [
  "onePair",
  "spread",
  "updated",
  "oneMarket",
  "many",
  "manyOneUpdate",
  "manyAllUpdated",
  "manyUpdate",
];

/** Rooms that the bench reads, as they are named now and as earlier revisions name them. */
const MOVED = [["src/config", "src/process/config"]] as const;

/** One figure of both revisions. Processor time, microseconds. */
interface Compared {
  readonly what: string;
  readonly old: number;
  readonly now: number;
  /** How much more it takes now. Fraction; the median over rounds, each of which measured both in turn. */
  readonly loss: number;
}

/**
 * Measures an earlier revision and the working tree in turn, in one run, with the bench of the working tree.
 *
 * @param revision as git names it
 * @param mostLoss the loss above which a figure fails. Fraction
 * @returns rows to show, and whether all figures hold
 */
export async function compareWith(
  revision: string,
  mostLoss: number,
): Promise<{ readonly rows: readonly BenchRow[]; readonly holds: boolean }> {
  const root = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), "tradewire-compare-"));
  const other = join(folder, "tree");
  git("worktree", "add", "--detach", "--quiet", other, revision);
  try {
    symlinkSync(join(root, "node_modules"), join(other, "node_modules"));
    for (const path of ["test/bench", "test/support/sample-markets.ts"]) {
      cpSync(join(root, path), join(other, path), { recursive: true });
    }
    for (const [now, before] of MOVED) {
      if (!existsSync(join(other, now))) symlinkSync(join(other, before), join(other, now));
    }
    const all = [...(await compareBuilds(other, root)), ...(await compareCalls(other, root))];
    const rows = all.map(({ what, old, now, loss }): BenchRow => {
      const shown = `${loss > 0 ? "+" : ""}${(100 * loss).toFixed(1)} %`;
      return [what, `${old.toFixed(1)} → ${now.toFixed(1)} µs`, shown, loss > mostLoss ? "TOO SLOW" : ""];
    });
    return { rows, holds: all.every(({ loss }) => loss <= mostLoss) };
  } finally {
    git("worktree", "remove", "--force", other);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareBuilds(other: string, root: string): Promise<readonly Compared[]> {
  const [old, now] = [await startBuilds(other, SCALE), await startBuilds(root, SCALE)];
  for (const child of [old, now]) await settleBuilds(child);
  const compared: Compared[] = [];
  for (const probe of PROBES) {
    const rounds = await inTurn(
      () => askBuilds(old, { probe }),
      () => askBuilds(now, { probe }),
    );
    compared.push(compare(`warm build, ${probe}`, rounds));
  }
  old.close();
  now.close();
  return compared;
}

async function compareCalls(other: string, root: string): Promise<readonly Compared[]> {
  const [old, now] = [await startSpreadServer(other, SCALE), await startSpreadServer(root, SCALE)];
  const [oldCallers, callers] = [await startCallers(old.file), await startCallers(now.file)];
  const compared: Compared[] = [];
  for (const wire of ["REST", "gRPC"] as const) {
    await measureCalls(oldCallers, old, { wire, calls: WARM_CALLS });
    await measureCalls(callers, now, { wire, calls: WARM_CALLS });
    const rounds = await inTurn(
      async () => (await measureCalls(oldCallers, old, { wire, calls: CALLS })).micros,
      async () => (await measureCalls(callers, now, { wire, calls: CALLS })).micros,
    );
    compared.push(compare(`${wire} buy, spread, one update each`, rounds));
  }
  for (const child of [old.child, now.child, oldCallers, callers]) child.close();
  return compared;
}

/** Pairs of measurements, each revision first in every second pair. */
async function inTurn(
  old: () => Promise<number>,
  now: () => Promise<number>,
): Promise<readonly (readonly [number, number])[]> {
  const rounds: [number, number][] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? await old() : undefined;
    const second = await now();
    const pair: [number, number] = [first ?? (await old()), second];
    if (round >= 0) rounds.push(pair);
  }
  return rounds;
}

function compare(what: string, rounds: readonly (readonly [number, number])[]): Compared {
  return {
    what,
    old: median(rounds.map(([old]) => old)),
    now: median(rounds.map(([, now]) => now)),
    loss: median(rounds.map(([old, now]) => now / old - 1)),
  };
}

function git(...args: readonly string[]): void {
  execFileSync("git", args, { stdio: ["ignore", "ignore", "inherit"] });
}
