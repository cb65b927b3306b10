import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startPostgres } from "../../support/postgres.ts";
import type { Rig } from "./rig.ts";
import type { CallPhase } from "./rpc-proxy.ts";
import {
  broadcastDelays,
  durations,
  ended,
  landed,
  type Measure,
  onRig,
  percentile,
  type Scenario,
  submitUntilEnded,
  trades,
  until,
} from "./scenario.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

const SOL = "So11111111111111111111111111111111111111112";
/** Messages raced for at a time: what two cores sign, build and land well within the life of a blockhash. */
const MESSAGES_AT_ONCE = 24;

const round = (value: number) => Math.round(value);

/** Where a service is killed in the middle of a submit: so long after the call, or at a call to the node. */
type KillPoint = number | readonly [method: string, phase: CallPhase, nth: number];

const KILL_POINTS: readonly KillPoint[] = [
  0,
  2,
  5,
  ["sendTransaction", "arrived", 1],
  ["sendTransaction", "answered", 1],
  ["sendTransaction", "arrived", 2],
  ["getSignatureStatuses", "arrived", 1],
  ["getSignatureStatuses", "answered", 1],
  ["getSignatureStatuses", "answered", 3],
  ["getTransaction", "arrived", 1],
  ["getTransaction", "answered", 1],
  400,
];

/** Submits that are repeated, interrupted, delayed, and lost. */
export const SUBMIT_SCENARIOS: readonly Scenario[] = [
  {
    row: 1,
    promise: "the same submit many times, across processes",
    target: "1 record each, ≤ 1 execution, equal results; SIGTERM loses no answer",
    promised: { scale: 209, runs: 1 },
    run: ({ seed, scale }) =>
      // Slots as long as the network's: eight processes receive every change, and only the race matters.
      onRig({ seed, processes: Math.min(8, 2 + scale), traders: 4, slotMs: 200 }, async (rig, expect) => {
        const messages = 24 * scale;
        const answers: SubmitEntry[] = [];
        for (let from = 0; from < messages; from += MESSAGES_AT_ONCE) {
          const wave = Array.from({ length: Math.min(MESSAGES_AT_ONCE, messages - from) }, (_, i) => from + i);
          const builds = await Promise.all(
            wave.map((i) => rig.built(rig.traders[i % 4]!, rig.buy(i), rig.services[i % rig.services.length]!, 30_000)),
          );
          const answered = await Promise.all(
            builds.flatMap((built, i) =>
              Array.from({ length: 4 }, (_, k) =>
                rig.traders[i % 4]!.submit(rig.services[(i + k) % rig.services.length]!, built),
              ),
            ),
          );
          answers.push(...answered);
        }
        const groups = [...Map.groupBy(answers, ({ messageHash }) => messageHash).values()];
        const unequal = groups.filter((group) => new Set(group.map(({ text }) => text)).size > 1).length;
        // Every process but the one that looks after a message learns its end from the database.
        const joins = groups.flatMap((group) => {
          const ends = group.map(({ endedAtMs }) => endedAtMs).sort((a, b) => a - b);
          return ends.slice(1).map((endMs) => endMs - ends[0]!);
        });
        expect(unequal === 0, `${unequal} messages were answered in different bytes`);
        expect(
          landed(answers) === answers.length,
          `${answers.length - landed(answers)} answers without a landed trade`,
        );
        const last = await rig.built(rig.traders[0]!, rig.buy());
        const leaving = rig.services.pop()!;
        const answer = rig.traders[0]!.submit(leaving, last);
        await sleep(5);
        const code = await leaving.stop();
        expect((await answer).status === 200, `SIGTERM: answered ${(await answer).status}`);
        expect(code === 0, `SIGTERM: exit code ${code}`);
        return `${messages} messages × 4: ${unequal} unequal, ${landed(answers)} of ${answers.length} landed; submit p99 ${percentile(durations(answers), 99)} ms, joined ones after the first p50 ${percentile(joins, 50)}, p99 ${percentile(joins, 99)} ms`;
      }),
  },
  {
    row: 9,
    promise: "kill -9 at 12 points of a submit",
    target: "0 double, 0 lost; the rest answered ≤ 7 s later; no row undecided",
    // 600 kills on each rig: longer than that, and the chain would no longer remember the first.
    promised: { scale: 50, runs: 20 },
    run: ({ seed, scale }) =>
      onRig({ seed, processes: 2, nodesEach: 1, traders: 1 }, async (rig, expect) => {
        let slowest = 0;
        let lost = 0;
        const points = Array.from({ length: scale }, () => KILL_POINTS).flat();
        for (const [i, point] of points.entries()) {
          const victim = rig.services.shift()!;
          const proxy = rig.proxies[rig.everyService.indexOf(victim) % 2]!;
          const trader = rig.traders[0]!;
          const built = await rig.built(trader, rig.buy(i), victim);
          const killed = killAt(point, proxy, victim);
          const first = trader.submit(victim, built);
          await killed;
          await first;
          const survivor = rig.services[0]!;
          const startedAtMs = Date.now();
          const answeredMs = await until(async () => ended(await trader.submit(survivor, built)), 12_000, 100);
          if (answeredMs === undefined) lost += 1;
          slowest = Math.max(slowest, Date.now() - startedAtMs);
          await rig.startService(rig.everyService.length % 2);
          // The new process uses the proxy of the one it replaces.
          rig.services.sort((a, b) => rig.everyService.indexOf(a) - rig.everyService.indexOf(b));
        }
        expect(lost === 0, `${lost} were never answered`);
        expect(slowest <= 7_000, `answered after ${slowest} ms`);
        return `${points.length} kills: ${lost} lost; answered at most ${slowest} ms later`;
      }),
  },
  {
    row: 9.5,
    promise: "kill -9, and nobody asks again",
    target: "another process brings it to its end ≤ 7 s after the kill",
    run: ({ seed, scale }) =>
      onRig({ seed, processes: 2, traders: 1 }, async (rig, expect) => {
        const trader = rig.traders[0]!;
        const [victim, survivor] = [rig.services.shift()!, rig.services[0]!];
        const builds = await Promise.all(
          Array.from({ length: 4 * scale }, (_, i) => rig.built(trader, rig.buy(i), victim)),
        );
        const submits = builds.map((built) => trader.submit(victim, built));
        await sleep(60);
        await victim.kill();
        await Promise.all(submits);
        const stored = async (built: BuildEntry) => {
          const { status, data } = await trader.find(survivor, built);
          return status === 404 || data?.status.endsWith("ed") === true;
        };
        const tookMs = await until(
          async () => (await Promise.all(builds.map(stored))).every((done) => done),
          12_000,
          100,
        );
        expect(tookMs !== undefined && tookMs <= 7_000, `taken over after ${tookMs} ms`);
        return `${builds.length} submits left behind were decided after ${tookMs} ms`;
      }),
  },
  {
    row: 10,
    promise: "database down",
    target: "builds 100 %; submits ≥ 99.9 % broadcast; rows ≤ 5 s after; register 503",
    promised: { scale: 12, runs: 1 },
    run: ({ seed, scale }) =>
      onPostgres(async ({ databaseUrl, proxy, directUrl }) =>
        onRig({ seed, databaseUrl }, async (rig, expect) => {
          await trades(rig, 4);
          await proxy.down();
          const downUntilMs = Date.now() + Math.min(60, 5 * scale) * 1_000;
          const entries = await trades(rig, 10 * scale);
          while (Date.now() < downUntilMs) entries.push(...(await trades(rig, 2)));
          const registered = await rig.traders[0]!.tryRegister(rig.services[0]!.url);
          const refused = rig.history.refusedBuilds.length;
          const broadcast = broadcastDelays(rig, entries).length;
          const hashes = entries.map(({ messageHash }) => messageHash);
          await proxy.up();
          const filledMs = await until(
            async () => (await countEnded(directUrl, hashes)) === hashes.length,
            10_000,
            100,
          );
          expect(refused === 0, `${refused} builds failed`);
          expect(broadcast === entries.length, `${entries.length - broadcast} submits were not broadcast`);
          expect(registered === 503, `register answered ${registered}`);
          expect(filledMs !== undefined && filledMs <= 5_000, `rows back-filled after ${filledMs} ms`);
          return `${refused} builds failed; ${broadcast} of ${entries.length} broadcast; rows after ${filledMs} ms; register ${registered}`;
        }),
      ),
  },
  {
    row: 11,
    promise: "database slow (1 s)",
    target: "build p50 unchanged (+≤ 10 ms); first broadcast +≤ 150 ms",
    run: ({ seed, scale }) =>
      onPostgres(async ({ databaseUrl, proxy }) =>
        onRig({ seed, databaseUrl }, async (rig, expect) => {
          const quiet = await trades(rig, 8 * scale);
          const normalBuild = percentile(durations(rig.history.builds), 50);
          const normal = percentile(broadcastDelays(rig, quiet), 99);
          proxy.delay(1_000);
          const from = rig.history.builds.length;
          const entries = await trades(rig, 8 * scale);
          const slowBuild = percentile(durations(rig.history.builds.slice(from)), 50);
          const slow = percentile(broadcastDelays(rig, entries), 99);
          proxy.delay(0);
          expect(slow - normal <= 150, `first broadcast +${round(slow - normal)} ms`);
          expect(slowBuild - normalBuild <= 10, `build +${round(slowBuild - normalBuild)} ms`);
          expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land`);
          return `build p50 ${round(normalBuild)} → ${round(slowBuild)} ms; first broadcast p99 ${round(normal)} → ${round(slow)} ms`;
        }),
      ),
  },
  {
    row: 13,
    promise: "taken by the nodes and never landed",
    target: "100 % expired ≤ finality + 2 s, 0 early; sends stop ≤ 1 s",
    promised: { scale: 10, runs: 10 },
    run: ({ seed, scale }) =>
      onRig({ seed }, async (rig, expect) => {
        for (const proxy of rig.proxies) await proxy.set({ sends: "drop" });
        const builds = await Promise.all(
          Array.from({ length: 10 * scale }, (_, i) => rig.built(rig.traders[i % 2]!, rig.buy(i))),
        );
        const last = Math.max(...builds.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
        const first = Math.min(...builds.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
        let finalAtMs = 0;
        let overAtMs = 0;
        let firstFinalAtMs = 0;
        const watch = setInterval(async () => {
          const [processed, finalized] = await Promise.all(
            ["processed", "finalized"].map((commitment) => rig.rpc<number>("getBlockHeight", [{ commitment }])),
          );
          if (overAtMs === 0 && processed! > last) overAtMs = Date.now();
          if (firstFinalAtMs === 0 && finalized! > first) firstFinalAtMs = Date.now();
          if (finalAtMs === 0 && finalized! > last) finalAtMs = Date.now();
        }, 20);
        const entries = await Promise.all(
          builds.map((built, i) => submitUntilEnded(rig, rig.traders[i % 2]!, built, 60_000)),
        );
        clearInterval(watch);
        const expired = entries.filter(({ error }) => error?.code === "TX_EXPIRED").length;
        const lateMs = Math.max(...entries.map(({ endedAtMs }) => endedAtMs)) - finalAtMs;
        const early = entries.filter(({ endedAtMs }) => firstFinalAtMs === 0 || endedAtMs < firstFinalAtMs - 40).length;
        const lastSend = Math.max(...rig.proxies.flatMap(({ sends }) => sends.map(({ atMs }) => atMs)));
        expect(expired === entries.length, `${entries.length - expired} not reported expired`);
        expect(early === 0, `${early} reported too early`);
        expect(lateMs <= 2_000, `reported ${round(lateMs)} ms after finality`);
        expect(lastSend - overAtMs <= 1_000, `sent for ${round(lastSend - overAtMs)} ms more`);
        return `${expired} of ${entries.length} expired, ${early} early, at most ${round(lateMs)} ms after finality; last send ${round(lastSend - overAtMs)} ms after the last block`;
      }),
  },
  {
    row: 14,
    promise: "dropped, then landed in the last valid block",
    target: "100 % reported as landed; 0 expired",
    promised: { scale: 17, runs: 10 },
    run: ({ seed, scale }) =>
      onRig({ seed }, async (rig, expect) => {
        for (const proxy of rig.proxies) await proxy.set({ sends: "hold" });
        const builds = await Promise.all(
          Array.from({ length: 6 * scale }, (_, i) => rig.built(rig.traders[i % 2]!, rig.buy(i))),
        );
        const first = Math.min(...builds.map(({ lastValidBlockHeight }) => lastValidBlockHeight));
        const submits = builds.map((built, i) => submitUntilEnded(rig, rig.traders[i % 2]!, built, 60_000));
        const held = () => rig.rpc<number>("getBlockHeight", [{ commitment: "processed" }]);
        await until(async () => (await held()) >= first - 12, 30_000);
        await rig.sandbox.pause();
        await rig.sandbox.advanceSlots(Math.max(0, first - (await held())));
        for (const { signed } of builds) {
          await rig.rpc("sendTransaction", [signed, { encoding: "base64", skipPreflight: true }]);
        }
        await rig.sandbox.resume();
        const entries = await Promise.all(submits);
        const expired = entries.filter(({ error }) => error?.code === "TX_EXPIRED").length;
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} not reported landed`);
        expect(expired === 0, `${expired} reported expired`);
        return `${landed(entries)} of ${entries.length} reported landed, ${expired} expired`;
      }),
  },
  {
    row: 15,
    promise: "confirmation slower than the caller waits",
    target: "answer ≤ 3 s (set so), 100 % not terminal; asked again: the one end",
    run: ({ seed, scale }) =>
      onRig({ seed, environment: { SUBMIT_TIMEOUT_MS: "3000" } }, async (rig, expect) => {
        const builds = await Promise.all(
          Array.from({ length: 6 * scale }, (_, i) => rig.built(rig.traders[i % 2]!, rig.buy(i))),
        );
        await rig.sandbox.setDelays({ confirmedAfterSlots: 90, finalizedAfterSlots: 120 });
        const early = await Promise.all(builds.map((built, i) => rig.traders[i % 2]!.submit(rig.services[0]!, built)));
        const open = early.filter((entry) => entry.data !== undefined && !ended(entry)).length;
        const slowest = Math.max(...durations(early));
        const late = await Promise.all(
          builds.map((built, i) => submitUntilEnded(rig, rig.traders[i % 2]!, built, 30_000)),
        );
        expect(open === early.length, `${early.length - open} were terminal at once`);
        expect(slowest <= 3_300, `answered after ${slowest} ms`);
        expect(landed(late) === late.length, `${late.length - landed(late)} did not end`);
        return `${open} of ${early.length} not terminal after ≤ ${slowest} ms; ${landed(late)} of ${late.length} ended as landed`;
      }),
  },
  {
    row: 16,
    promise: "processed, rolled back, landed again",
    target: "reported slot = final slot, 100 %; confirmed never taken back",
    run: ({ seed, scale }) =>
      onRig({ seed, confirmedAfterSlots: 16, traders: 3 }, async (rig, expect) => {
        let forks = 0;
        const forking = setInterval(async () => {
          if ((await rig.sandbox.fork(1 + Number(rig.random.below(8n)))) > 0) forks += 1;
        }, 700);
        const entries = await trades(rig, 12 * scale);
        clearInterval(forking);
        expect(forks > 0, "nothing was rolled back");
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land`);
        return `${forks} forks; ${landed(entries)} of ${entries.length} landed`;
      }),
  },
  {
    row: 35,
    promise: "reported amounts are what the chain moved",
    target: "100 % equal in base units, on every kind of token",
    // A dozen rounds buy out the smallest of the markets.
    promised: { scale: 10, runs: 6 },
    run: ({ seed, scale }) =>
      onRig({ seed, traders: 4 }, async (rig, expect) => {
        const service = rig.services[0]!;
        const tokens = rig.sandbox.world.tokens.filter(({ quoteMint }) => quoteMint.toString() === SOL);
        let count = 0;
        let refused = 0;
        let unread = 0;
        const tradeEach = async (trader: Trader, share: typeof tokens) => {
          for (const { mint, symbol } of share) {
            const text = mint.toString();
            const orders = [
              { path: "buy", body: { mint: text, solAmount: 0.2 } },
              { path: "swap", body: { inputMint: "SOL", outputMint: text, amount: 1.5, swapMode: "exactOut" } },
              { path: "sell", body: { mint: text, tokenAmount: 0.7 } },
              { path: "swap", body: { inputMint: text, outputMint: "SOL", amount: 0.3, swapMode: "exactIn" } },
            ] as const;
            for (const order of orders) {
              const built = await trader.build(service.url, order);
              if (built === undefined) {
                refused += 1;
                expect(false, `${symbol} ${order.path}: ${rig.history.refusedBuilds.at(-1)?.code}`);
                continue;
              }
              const { data } = await trader.submit(service, built);
              count += 1;
              if (data?.tradeResult == null) unread += 1;
            }
          }
        };
        for (let round = 0; round < scale; round++) {
          // Each token is one trader's, in another round another's: no price moves between a build and its submit.
          await Promise.all(
            rig.traders.map((trader, t) =>
              tradeEach(
                trader,
                tokens.filter((_, i) => (i + round) % rig.traders.length === t),
              ),
            ),
          );
        }
        expect(unread === 0, `${unread} without amounts`);
        return `${count} trades, ${refused} refused, ${unread} without amounts`;
      }),
  },
];

function killAt(point: KillPoint, proxy: Rig["proxies"][number], victim: Rig["services"][number]): Promise<void> {
  if (typeof point === "number") return sleep(point).then(() => victim.kill());
  const [method, phase, nth] = point;
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const end = async () => {
    proxy.onCall = undefined;
    await victim.kill();
    resolve();
  };
  // Where the call does not come, the trade has ended before: the kill is then between two submits.
  const late = setTimeout(end, 3_000);
  proxy.onCall = async (called, at) => {
    if (called !== method || at !== phase || ++count !== nth) return;
    clearTimeout(late);
    await end();
  };
  return promise;
}

async function onPostgres(
  work: (database: { databaseUrl: string; directUrl: string; proxy: TcpProxy }) => Promise<Measure>,
): Promise<Measure> {
  const postgres = await startPostgres();
  if (postgres === undefined)
    return { measured: "not measured: no PostgreSQL here", broken: ["PostgreSQL is missing"] };
  try {
    const directUrl = await postgres.createDatabase();
    const url = new URL(directUrl);
    const proxy = await startTcpProxy(Number(url.port));
    url.port = `${proxy.port}`;
    try {
      return await work({ databaseUrl: url.href, directUrl, proxy });
    } finally {
      await proxy.close();
    }
  } finally {
    await postgres.stop();
  }
}

async function countEnded(databaseUrl: string, hashes: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      "select count(*)::int as count from submissions where outcome is not null and message_hash = any($1)",
      [hashes],
    );
    return rows[0].count;
  } finally {
    await client.end();
  }
}
