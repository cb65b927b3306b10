import { setTimeout as sleep } from "node:timers/promises";
import { startPostgres } from "../../support/postgres.ts";
import type { Rig } from "./rig.ts";
import { ended, type Measure, onRig, type Scenario, submitUntilEnded } from "./scenario.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

/** As long as a short freeze, longer than a lease, and longer than a message lives. Milliseconds. */
const FREEZES_MS = [300, 6_500, 12_000, 40_000] as const;
const LONGEST_REST_MS = 5_000;
/** Longest that a trade may take to end once everything runs again: as long as a message lives, and its finality. Milliseconds. */
const END_MS = 60_000;
const CLOCKS_MS = [
  [0, 0, 0],
  [0, 20_000, -3_600_000],
  [0, 3_600_000, -20_000],
] as const;

/** A trade, and its message under a second signature; undefined if it was signed once. */
interface Signed {
  readonly trader: Trader;
  readonly first: BuildEntry;
  readonly second: BuildEntry | undefined;
}

/** Processes that stand still with trades in flight, as on a machine that is paused or short of memory, and continue. */
export const FROZEN_SCENARIOS: readonly Scenario[] = [
  {
    row: 9.6,
    promise: "SIGSTOP for up to 40 s with trades in flight, clocks apart, sends lost at times",
    target: "0 false ends; every process gives every trade the same end",
    run: async ({ seed, scale }) => {
      const postgres = await startPostgres();
      if (postgres === undefined)
        return { measured: "not measured: no PostgreSQL here", broken: ["PostgreSQL is missing"] };
      try {
        return await frozen(seed, 10 * scale, await postgres.createDatabase());
      } finally {
        await postgres.stop();
      }
    },
  },
];

function frozen(seed: number, count: number, databaseUrl: string): Promise<Measure> {
  const clockSkewsMs = CLOCKS_MS[seed % CLOCKS_MS.length]!;
  const environment = { SUBMIT_TIMEOUT_MS: "6000" };
  const options = { seed, processes: 3, traders: 4, slotMs: 150, databaseUrl, clockSkewsMs, environment };
  return onRig(options, async (rig, expect) => {
    const { random } = rig;
    const stopped = new AbortController();
    const freezing = freezeInTurn(rig, stopped.signal);
    const taken: Signed[] = [];
    const submits: Promise<SubmitEntry>[] = [];
    for (let i = 0; i < count; i++) {
      const trader = random.pick(rig.traders);
      const first = await rig.built(trader, rig.buy(i), random.pick(rig.services));
      const second = random.chance(0.3) ? trader.signAgain(first, 1_000_003n + BigInt(i)) : undefined;
      taken.push({ trader, first, second });
      for (const proxy of rig.proxies) await proxy.set({ sends: random.chance(0.6) ? "drop" : "forward" });
      for (const form of second === undefined ? [first, first] : [first, second])
        submits.push(trader.submit(random.pick(rig.services), form));
      await sleep(Number(random.below(4_000n)));
    }
    await sleep(LONGEST_REST_MS);
    stopped.abort();
    const freezes = await freezing;
    for (const proxy of rig.proxies) await proxy.set({ sends: "forward" });
    await Promise.all(submits);
    const ends = new Map<string, number>();
    for (const { trader, first } of taken) {
      const answers = await Promise.all(rig.services.map((one) => submitUntilEnded(rig, trader, first, END_MS, one)));
      await Promise.all(rig.services.map((one) => trader.find(one, first)));
      const open = answers.filter((answer) => !ended(answer)).length;
      expect(open === 0, `${open} processes know no end of ${first.messageHash.slice(0, 12)}`);
      const end = answers[0]!.error?.code ?? `${answers[0]!.data?.status}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    return `${freezes} freezes; of ${count}: ${Array.from(ends, ([end, times]) => `${times} ${end}`).join(", ")}`;
  });
}

/** Freezes one process after the other, each for a while, until the signal. @returns how often, once all run again */
async function freezeInTurn({ services, random }: Rig, signal: AbortSignal): Promise<number> {
  let times = 0;
  const thawing = new Map<number, Promise<void>>();
  while (!signal.aborted) {
    await sleep(500 + Number(random.below(BigInt(LONGEST_REST_MS))));
    const running = services.filter(({ pid }) => !thawing.has(pid));
    // One must be left to take over.
    if (running.length < 2) continue;
    const { pid } = random.pick(running);
    times += 1;
    process.kill(pid, "SIGSTOP");
    const thaw = sleep(random.pick(FREEZES_MS)).then(() => {
      process.kill(pid, "SIGCONT");
      thawing.delete(pid);
    });
    thawing.set(pid, thaw);
  }
  await Promise.all(thawing.values());
  return times;
}
