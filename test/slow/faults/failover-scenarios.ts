import { setTimeout as sleep } from "node:timers/promises";
import { ask, ReplicatedPostgres } from "./replicated-postgres.ts";
import type { Rig } from "./rig.ts";
import { ended, type Measure, onRig, type Scenario, submitUntilEnded, until } from "./scenario.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

const SLOT_MS = 200;
/** Slots after which a message has expired, finally. */
const EXPIRED_SLOTS = 200;
/** For how long the standby receives nothing before it takes over, at most. Milliseconds. */
const MOST_BEHIND_MS = 1_500;
/** For how long the first process goes on with the old primary. Milliseconds. */
const APART_MS = [0, 1_500, 7_000, 15_000] as const;
/** Longest that a trade may take to end once both processes use the same server, and its record to be written there. Milliseconds. */
const END_MS = 60_000;
const RECORD_MS = 15_000;
const SENT = { encoding: "base64", skipPreflight: true };
/** What a process says that has not yet written again what the new primary lacks. */
const FORGETS = /had ended and was reported pending later/;

/** A trade, under one signature or two. */
interface Signed {
  readonly trader: Trader;
  readonly forms: readonly BuildEntry[];
}

/** A standby with asynchronous replication that takes over while one process still uses the old primary. */
export const FAILOVER_SCENARIOS: readonly Scenario[] = [
  {
    row: 10.5,
    promise:
      "PostgreSQL fails over to a standby that lacks the last writes; one process uses the old primary for a while",
    target: "0 false ends; both processes give every trade the same end, which is on record",
    run: async ({ seed, scale }) => {
      const postgres = await ReplicatedPostgres.start();
      if (postgres === undefined)
        return { measured: "not measured: no PostgreSQL here", broken: ["PostgreSQL is missing"] };
      const routes = await Promise.all([0, 1].map(() => startTcpProxy(postgres.primary.port)));
      try {
        return await failedOver(seed, 12 * scale, postgres, routes);
      } finally {
        await Promise.all(routes.map((route) => route.close()));
        await postgres.stop();
      }
    },
  },
];

async function failedOver(
  seed: number,
  count: number,
  postgres: ReplicatedPostgres,
  routes: readonly TcpProxy[],
): Promise<Measure> {
  const databaseUrls = routes.map(({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`);
  const environment = { SUBMIT_TIMEOUT_MS: "5000" };
  const options = { seed, processes: 2, traders: 3, slotMs: SLOT_MS, databaseUrls, environment };
  const { measured, broken } = await onRig(options, async (rig, expect) => {
    const { random } = rig;
    /** Whether nothing that the services send lands. */
    const isLosing = random.chance(0.5);
    const trades: Signed[] = [];
    const submits: Promise<SubmitEntry>[] = [];
    const failing = failOver(rig, postgres, routes);
    for (let i = 0; i < count; i++) {
      const one = await signed(rig, i);
      trades.push(one);
      for (const proxy of rig.proxies) await proxy.set({ sends: isLosing || random.chance(0.4) ? "drop" : "forward" });
      const both = random.chance(0.5) ? rig.services : [random.pick(rig.services)];
      for (const form of one.forms) submits.push(...both.map((service) => one.trader.submit(service, form)));
      await sleep(Number(random.below(900n)));
      // Past the services.
      if (isLosing && random.chance(0.5)) await rig.rpc("sendTransaction", [random.pick(one.forms).signed, SENT]);
    }
    const how = await failing;
    if (!isLosing) for (const proxy of rig.proxies) await proxy.set({ sends: "forward" });
    await rig.sandbox.advanceSlots(EXPIRED_SLOTS);
    await Promise.all(submits);
    const ends = new Map<string, number>();
    for (const { trader, forms } of trades) {
      const answers = await Promise.all(
        rig.services.flatMap((service) => forms.map((form) => submitUntilEnded(rig, trader, form, END_MS, service))),
      );
      const [{ messageHash }] = forms as [BuildEntry];
      const name = messageHash.slice(0, 12);
      const open = answers.filter((answer) => !ended(answer));
      expect(open.length === 0, `${name} has no end: ${open[0]?.status} ${open[0]?.text}`);
      const said = new Set(answers.map(({ data, error }) => error?.code ?? (data === undefined ? "" : "landed")));
      expect(said.size === 1, `${name}: ${[...said].join(" and ")}`);
      const record = `select outcome from submissions where message_hash = '${messageHash}' and outcome is not null`;
      const isRecorded = async () => (await ask(postgres.standby.url, record)).length === 1;
      expect((await until(isRecorded, RECORD_MS, 200)) !== undefined, `${name}: no outcome on record`);
      for (const end of said) ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    return `${how}; of ${count}: ${Array.from(ends, ([end, times]) => `${times} ${end}`).join(", ")}`;
  });
  return { measured, broken: broken.filter((what) => !FORGETS.test(what)) };
}

async function signed(rig: Rig, index: number): Promise<Signed> {
  const trader = rig.random.pick(rig.traders);
  const built = await rig.built(trader, rig.buy(index), rig.random.pick(rig.services));
  const isTwice = rig.random.chance(0.3);
  return { trader, forms: isTwice ? [built, trader.signAgain(built, 1_000_003n + BigInt(index))] : [built] };
}

/** @returns how it was, in words, once both processes use the new primary */
async function failOver(rig: Rig, postgres: ReplicatedPostgres, routes: readonly TcpProxy[]): Promise<string> {
  const { random } = rig;
  const [behindMs, apartMs] = [Number(random.below(BigInt(MOST_BEHIND_MS))), random.pick(APART_MS)];
  await sleep(2_000 + Number(random.below(2_000n)));
  await postgres.cutReplication();
  await sleep(behindMs);
  const to = postgres.standby.port;
  const isEarly = random.chance(0.3);
  // Until it is promoted, the standby is read-only.
  if (isEarly) routes[1]!.retarget(to);
  await postgres.promote();
  if (!isEarly) routes[1]!.retarget(to);
  await sleep(apartMs);
  routes[0]!.retarget(to);
  return `${behindMs} ms lost, ${apartMs} ms apart`;
}
