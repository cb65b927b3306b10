import { setTimeout as sleep } from "node:timers/promises";
import { checkInvariants } from "./checker.ts";
import { isTerminal, Rig, type RigOptions } from "./rig.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

/** One promise of the table, and how it is put to the test. */
export interface Scenario {
  /** Its number in the table of promises. */
  readonly row: number;
  readonly promise: string;
  readonly target: string;
  /** The size that is promised, where it is larger than any smoke: so many runs, each on a rig of its own, of that scale. */
  readonly promised?: { readonly scale: number; readonly runs: number };
  /** Measures it once. `scale` 1 is the smoke; more is more of everything. */
  run(schedule: Schedule): Promise<Measure>;
}

export interface Schedule {
  readonly seed: number;
  readonly scale: number;
}

export interface Measure {
  readonly measured: string;
  /** What is broken: invariants, and targets that were missed. */
  readonly broken: readonly string[];
}

/** Runs the story on a rig of its own, then holds everything that happened against the invariants. */
export async function onRig(
  options: RigOptions,
  story: (rig: Rig, expect: (holds: boolean, what: string) => void) => Promise<string>,
): Promise<Measure> {
  const rig = await Rig.start(options);
  try {
    const missed: string[] = [];
    const measured = await story(rig, (holds, what) => {
      if (!holds) missed.push(what);
    });
    for (const proxy of rig.proxies) await proxy.heal();
    await rig.settle();
    return { measured, broken: [...missed, ...(await checkInvariants(rig)), ...(await rig.stopServices())] };
  } finally {
    await rig.close();
  }
}

/** Builds and submits a small buy. */
export async function trade(rig: Rig, trader: Trader, index = 0, service = rig.services[0]!): Promise<SubmitEntry> {
  return trader.submit(service, await rig.built(trader, rig.buy(index), service));
}

/** Many trades, each trader one after the other, the traders side by side. */
export async function trades(rig: Rig, count: number): Promise<SubmitEntry[]> {
  const perTrader = Math.ceil(count / rig.traders.length);
  const done = await Promise.all(
    rig.traders.map(async (trader, t) => {
      const entries: SubmitEntry[] = [];
      for (let i = 0; i < perTrader; i++) {
        entries.push(await trade(rig, trader, i + t, rig.services[(i + t) % rig.services.length]!));
      }
      return entries;
    }),
  );
  return done.flat();
}

export const landed = (entries: readonly SubmitEntry[]) =>
  entries.filter(({ data }) => data?.status === "confirmed" || data?.status === "finalized").length;

export const ended = (entry: SubmitEntry) => isTerminal(entry.data, entry.error);

/** From the call of submit to the first node hearing of it, for each submit. Milliseconds. */
export function broadcastDelays(rig: Rig, entries: readonly SubmitEntry[] = rig.history.submits): number[] {
  const first = new Map<string, number>();
  for (const { sends } of rig.proxies) {
    for (const { transaction, atMs } of sends) first.set(transaction, Math.min(first.get(transaction) ?? atMs, atMs));
  }
  const builds = new Map(rig.history.builds.map((build) => [build.messageHash, build]));
  return entries.flatMap(({ messageHash, startedAtMs }) => {
    const sentAtMs = first.get(builds.get(messageHash)!.signed);
    return sentAtMs === undefined ? [] : [sentAtMs - startedAtMs];
  });
}

/** Nearest rank. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

export const durations = (entries: readonly { readonly startedAtMs: number; readonly endedAtMs: number }[]) =>
  entries.map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs);

/** Waits until it holds. @returns the milliseconds it took, or undefined when it took longer than `patienceMs` */
export async function until(
  holds: () => boolean | Promise<boolean>,
  patienceMs: number,
  everyMs = 20,
): Promise<number | undefined> {
  const startedAtMs = Date.now();
  while (Date.now() - startedAtMs < patienceMs) {
    if (await holds()) return Date.now() - startedAtMs;
    await sleep(everyMs);
  }
  return undefined;
}

/** Asks again until the trade has ended. */
export async function submitUntilEnded(
  rig: Rig,
  trader: Trader,
  built: BuildEntry,
  patienceMs: number,
  service = rig.services[0]!,
): Promise<SubmitEntry> {
  for (const end = Date.now() + patienceMs; ; await sleep(50)) {
    const entry = await trader.submit(service, built);
    if (ended(entry) || Date.now() > end) return entry;
  }
}
