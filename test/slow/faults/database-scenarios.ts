import { setTimeout as sleep } from "node:timers/promises";
import { type ArmedFault, DATABASE_FAULTS, type DatabaseFault, FaultyDatabase } from "./database-faults.ts";
import type { Rig } from "./rig.ts";
import {
  ended,
  landed,
  type Measure,
  onRig,
  type Scenario,
  type Schedule,
  submitUntilEnded,
  until,
} from "./scenario.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

/** Slots after which a message has expired, finally. */
const EXPIRED_SLOTS = 200;
/** As long as the network's: chain and services share two cores. Milliseconds. */
const SLOT_MS = 200;
/** Pending trades are asked for again, not waited for. */
const ENVIRONMENT = { SUBMIT_TIMEOUT_MS: "3000" };
/** Longest that a trade may take to end once its database is whole, and its record to be written. Milliseconds. */
const END_MS = 30_000;
const BUILD_MS = 60_000;
const RECORD_MS = 12_000;
/** No story makes more statements about one submission: past them a walk has gone wrong. */
const MOST_STATEMENTS = 40;

/** Every way to fail at every statement: two of them, drawn, make a smoke. */
const ALL_FAULTS = { scale: 4, runs: 1 };

/** A server that lacks the last writes leaves a process with "pending" until the end is written again or it has ruled itself. */
const FORGETS = /had ended and was reported pending later/;
const LOSES_WRITES: ReadonlySet<DatabaseFault> = new Set(["failover", "failoverDone"]);

/** One case: what happens to the trade, while the fault waits for its statement. */
interface Case {
  readonly rig: Rig;
  readonly database: FaultyDatabase;
  readonly built: BuildEntry;
  readonly trader: Trader;
  readonly arm: () => Promise<ArmedFault>;
}

interface Story {
  readonly end: "landed" | "TX_EXPIRED";
  /** What callers were answered in the end. */
  play(one: Case): Promise<{ readonly armed: ArmedFault; readonly answers: readonly SubmitEntry[] }>;
}

/** The database fails at each statement of a submit in turn, in each way. */
export const DATABASE_SCENARIOS: readonly Scenario[] = [
  {
    row: 10.1,
    promise: "the database fails at each statement of a trade that lands, two processes",
    target: "0 false or changed ends; the record written",
    promised: ALL_FAULTS,
    run: (schedule) => walk(schedule, { end: "landed", play: submittedTwice }, 2),
  },
  {
    row: 10.2,
    promise: "the database fails at each statement of a trade that expires",
    target: "expired, never a changed end; the record written",
    promised: ALL_FAULTS,
    run: (schedule) => walk(schedule, { end: "TX_EXPIRED", play: neverLanded }, 2),
  },
  {
    row: 10.3,
    promise: "the database fails while a second signature is stored, then kill -9",
    target: "0 false TX_EXPIRED",
    promised: ALL_FAULTS,
    run: (schedule) => walk(schedule, { end: "landed", play: storedThenKilled }, 2),
  },
  {
    row: 10.4,
    promise: "the database fails at each statement of taking over a message with two signatures; no node shows history",
    target: "0 false TX_EXPIRED",
    promised: ALL_FAULTS,
    run: (schedule) => walk(schedule, { end: "landed", play: takenOver }, 2),
  },
];

/** Plays the story with the fault at its first statement, its second and so on, until it has no more; `most` ways at each. */
async function walk({ seed, scale }: Schedule, story: Story, most: number): Promise<Measure> {
  /** By the part of the message hash that broken invariants name. */
  const befell = new Map<string, { readonly fault: DatabaseFault; readonly what: string }>();
  const measure = await FaultyDatabase.with((database) =>
    onRig(
      { seed, processes: 2, databaseUrl: database.proxy.url, slotMs: SLOT_MS, environment: ENVIRONMENT },
      async (rig, expect) => {
        const places = new Map<string, number>();
        let cases = 0;
        let wrong = 0;
        for (let nth = 1; nth <= MOST_STATEMENTS; nth++) {
          let isReached = false;
          for (const fault of drawn(rig, Math.min(most * scale, DATABASE_FAULTS.length))) {
            const trader = rig.traders[cases % rig.traders.length]!;
            const built = await rig.built(trader, rig.buy(cases), rig.services[0]!, BUILD_MS);
            let armed: ArmedFault | undefined;
            const arm = async () => {
              armed = await database.arm(fault, nth);
              return armed;
            };
            const what = () => `${fault} at statement ${nth} (${armed?.at ?? "not reached"})`;
            const { answers } = await story.play({ rig, database, built, trader, arm });
            await armed!.over();
            befell.set(built.messageHash.slice(0, 12), { fault, what: what() });
            cases += 1;
            const false_ = answers.filter(
              (entry) => ended(entry) && (landed([entry]) === 1 ? "landed" : entry.error?.code) !== story.end,
            );
            const undecided = answers.filter((entry) => !ended(entry));
            wrong += false_.length;
            expect(false_.length === 0, `${what()}: answered ${false_[0]?.error?.code ?? false_[0]?.data?.status}`);
            expect(undecided.length === 0, `${what()}: ${undecided[0]?.status} ${undecided[0]?.text}, never decided`);
            const recordMs = await until(() => isRecorded(database, built), RECORD_MS, 100);
            expect(recordMs !== undefined, `${what()}: no outcome on record`);
            if (armed!.at === undefined) continue;
            isReached = true;
            const place = `${nth} ${armed!.at}`;
            places.set(place, (places.get(place) ?? 0) + 1);
          }
          if (!isReached) break;
        }
        database.proxy.onStatement = undefined;
        const named = [...places].map(([place, times]) => `${place} × ${times}`).join(", ");
        return `${cases} cases, ${wrong} false: ${named}`;
      },
    ),
  );
  if (measure === undefined) return { measured: "no PostgreSQL here", broken: ["PostgreSQL is missing"] };
  const broken = measure.broken.flatMap((what) => {
    const cause = befell.get(/^I\d (\w{12}) /.exec(what)?.[1] ?? "");
    if (cause === undefined) return [what];
    return FORGETS.test(what) && LOSES_WRITES.has(cause.fault) ? [] : [`${what}, ${cause.what}`];
  });
  return { ...measure, broken };
}

/** Some of the ways to fail, drawn; all of them if as many are wanted. */
function drawn(rig: Rig, most: number): readonly DatabaseFault[] {
  return DATABASE_FAULTS.map((fault) => ({ fault, at: rig.random.u32() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, most)
    .map(({ fault }) => fault);
}

async function isRecorded(database: FaultyDatabase, { messageHash }: BuildEntry): Promise<boolean> {
  const rows = await database
    .query<{ outcome: string | null }>("select outcome from submissions where message_hash = $1", [messageHash])
    .catch(() => []);
  return rows.some(({ outcome }) => outcome !== null);
}

/** Submitted to both processes, asked for at both, and submitted once more. */
async function submittedTwice({ rig, built, trader, arm }: Case) {
  const armed = await arm();
  const [a, b] = rig.services;
  const first = [trader.submit(a!, built), sleep(30).then(() => trader.submit(b!, built))];
  await Promise.all(first);
  for (const service of rig.services) await trader.find(service, built);
  await armed.over();
  const answers = [];
  for (const service of rig.services) answers.push(await submitUntilEnded(rig, trader, built, END_MS, service));
  return { armed, answers };
}

/** Taken by the nodes and never landed; submitted to one process, then asked of both. */
async function neverLanded({ rig, built, trader, arm }: Case) {
  await dropping(rig, true);
  const armed = await arm();
  const lost = trader.submit(rig.services[0]!, built);
  await sleep(300);
  await rig.sandbox.advanceSlots(EXPIRED_SLOTS);
  await lost;
  const answers = [];
  for (const service of rig.services) answers.push(await submitUntilEnded(rig, trader, built, END_MS, service));
  await dropping(rig, false);
  return { armed, answers };
}

/** The database fails while the first process stores its two signatures. It is killed, and the second one lands. */
async function storedThenKilled({ rig, database, built, trader, arm }: Case) {
  const second = trader.signAgain(built, 1_000_003n);
  await dropping(rig, true);
  const armed = await arm();
  const [victim, survivor] = rig.services;
  const lost = [trader.submit(victim!, built), sleep(60).then(() => trader.submit(victim!, second))];
  await sleep(300);
  await victim!.kill();
  await Promise.all(lost);
  await landLate(rig, second);
  await armed.over();
  const answers = [await submitUntilEnded(rig, trader, built, END_MS, survivor)];
  await dropping(rig, false);
  await replace(rig, database, armed);
  return { armed, answers };
}

/** The first process is killed with two signatures stored, the second one lands, and the database fails the one that takes over. */
async function takenOver({ rig, database, built, trader, arm }: Case) {
  const second = trader.signAgain(built, 1_000_003n);
  await dropping(rig, true);
  const [victim, survivor] = rig.services;
  const lost = [trader.submit(victim!, built), sleep(60).then(() => trader.submit(victim!, second))];
  await until(() => hasBoth(database, built), 5_000);
  await victim!.kill();
  await Promise.all(lost);
  await landLate(rig, second);
  for (const proxy of rig.proxies) await proxy.set({ refusedMethods: ["getSignaturesForAddress"] });
  const armed = await arm();
  await database.query("update submissions set lease_until_ms = 1 where message_hash = $1", [built.messageHash]);
  if (rig.random.pick([true, false])) await sleep(1_500);
  const answers = [await submitUntilEnded(rig, trader, built, END_MS, survivor)];
  for (const proxy of rig.proxies) await proxy.set({ refusedMethods: [] });
  await dropping(rig, false);
  await replace(rig, database, armed);
  return { armed, answers };
}

async function hasBoth(database: FaultyDatabase, { messageHash }: BuildEntry): Promise<boolean> {
  const rows = await database.query(
    "select 1 from submissions join submission_signatures using (message_hash) where message_hash = $1",
    [messageHash],
  );
  return rows.length > 0;
}

async function dropping(rig: Rig, drops: boolean): Promise<void> {
  for (const proxy of rig.proxies) await proxy.set({ sends: drops ? "drop" : "forward" });
}

/** Lands it past the service, and lets its life pass. */
async function landLate(rig: Rig, { signed }: BuildEntry): Promise<void> {
  await rig.rpc("sendTransaction", [signed, { encoding: "base64", skipPreflight: true }]);
  await sleep(200);
  await rig.sandbox.advanceSlots(EXPIRED_SLOTS);
}

/** A new process in the place of the first, which was killed. It starts on a database that works: no fault is left that could begin. */
async function replace(rig: Rig, database: FaultyDatabase, armed: ArmedFault): Promise<void> {
  database.proxy.onStatement = undefined;
  await armed.over();
  rig.services.shift();
  await rig.startService();
}
