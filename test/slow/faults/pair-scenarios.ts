import { setTimeout as sleep } from "node:timers/promises";
import { FaultyDatabase } from "./database-faults.ts";
import { Mutator } from "./mutation.ts";
import type { Rig } from "./rig.ts";
import type { Faults, RpcProxy } from "./rpc-proxy.ts";
import { ended, type Measure, onRig, type Scenario, submitUntilEnded } from "./scenario.ts";
import type { ServiceProcess } from "./service-process.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

/** As long as the network's: chain and services share two cores. Milliseconds. */
const SLOT_MS = 200;
/** How wrong the second process's clock is: by seed, behind or ahead. Milliseconds. */
const SKEW_MS = 300_000;
/** Slots after which a message has expired, finally. */
const EXPIRED_SLOTS = 200;
/** How long the database is away, at most. Milliseconds. */
const MOST_AWAY_MS = 4_000;
/** Longest that a trade may take to end once everything runs again. Milliseconds. */
const END_MS = 60_000;

/** What becomes of what the services send: it lands, is lost, or is lost and lands past them later. */
const FATES = ["lands", "lost", "late"] as const;
/** Where the process that has the trade is killed: as its claim is recorded, as it first sends, or once it is sent. */
const KILLS = ["none", "claimed", "sending", "sent", "reading"] as const;
/** How one node of the second process is wrong; of those that lag, both are. */
const WRONGS: readonly ((seed: number) => Partial<Faults>)[] = [
  () => ({ lagSlots: 40 }),
  () => ({ lagSlots: 140 }),
  () => ({ lagSlots: 250 }),
  (seed) => ({ mutator: new Mutator({ seed, share: 0.3, methods: "all" }) }),
  () => ({ hidesStatuses: true }),
  () => ({ slotShift: -60 }),
  () => ({ slotShift: -600 }),
  () => ({ slotShift: 400 }),
  () => ({ lastValidShift: -100 }),
  () => ({ statuses: "failed" }),
  () => ({ statuses: "succeeded" }),
  () => ({ delayMs: 1_500 }),
  () => ({ connection: "blackhole" }),
];

/** Two processes on one database that differ in what their nodes and clocks show them. */
export const PAIR_SCENARIOS: readonly Scenario[] = [
  {
    row: 9.8,
    promise:
      "two processes on one PostgreSQL: a node of one lies or lags, its clock is off by 5 min, kill -9, no database for a while",
    target: "0 false ends; both processes give every trade the same end",
    run: async ({ seed, scale }) => {
      const measure = await FaultyDatabase.with((database) => paired(seed, 8 * scale, database));
      return measure ?? { measured: "not measured: no PostgreSQL here", broken: ["PostgreSQL is missing"] };
    },
  },
];

function paired(seed: number, count: number, database: FaultyDatabase): Promise<Measure> {
  const options = {
    ...{ seed, processes: 2, nodesEach: 2, traders: 3, slotMs: SLOT_MS, databaseUrl: database.proxy.url },
    clockSkewsMs: [0, seed % 2 === 0 ? SKEW_MS : -SKEW_MS],
    environment: { SUBMIT_TIMEOUT_MS: "5000" },
  };
  return onRig(options, async (rig, expect) => {
    const told = new Map<string, number>();
    for (let i = 0; i < count; i++) {
      const one = new PairCase(rig, database, i);
      const answers = await one.play();
      const open = answers.filter((answer) => !ended(answer));
      expect(open.length === 0, `${one.what}: ${open[0]?.status} ${open[0]?.error?.code ?? open[0]?.text}, no end`);
      const ends = new Set(answers.map(({ data, error }) => error?.code ?? (data === undefined ? "" : "landed")));
      expect(ends.size === 1, `${one.what}: ${[...ends].join(" and ")}`);
      for (const end of ends) told.set(end, (told.get(end) ?? 0) + 1);
    }
    return `of ${count}: ${Array.from(told, ([end, times]) => `${times} ${end}`).join(", ")}`;
  });
}

/** One trade, and what is drawn to happen to it. */
class PairCase {
  readonly #rig: Rig;
  readonly #database: FaultyDatabase;
  readonly #index: number;
  readonly #fate;
  readonly #kill;
  readonly #wrong: Partial<Faults>;
  readonly #isAway: boolean;
  readonly #isByBoth: boolean;
  readonly #isSignedTwice: boolean;
  /** Index of the process that gets the trade first, and may be killed. */
  readonly #victim: number;

  constructor(rig: Rig, database: FaultyDatabase, index: number) {
    const { random } = rig;
    this.#rig = rig;
    this.#database = database;
    this.#index = index;
    this.#fate = random.pick(FATES);
    this.#kill = random.pick(KILLS);
    this.#wrong = random.pick(WRONGS)(rig.options.seed * 1_000 + index);
    this.#isAway = random.chance(0.4);
    this.#isByBoth = random.chance(0.5);
    this.#isSignedTwice = random.chance(0.25);
    this.#victim = random.pick([0, 1]);
  }

  /** In words. */
  get what(): string {
    const wrong = JSON.stringify(this.#wrong, (key, value) => (key === "mutator" ? "any field" : value));
    const parts = [this.#fate, `kill ${this.#kill} at ${this.#victim}`, `node ${wrong}`];
    if (this.#isAway) parts.push("no database for a while");
    if (this.#isByBoth) parts.push("submitted to both");
    if (this.#isSignedTwice) parts.push("signed twice");
    return parts.join(", ");
  }

  /** @returns what both processes answer in the end, to each signature */
  async play(): Promise<readonly SubmitEntry[]> {
    const { random, services, proxies, traders } = this.#rig;
    const trader = traders[this.#index % traders.length]!;
    const victim = services[this.#victim]!;
    // A process whose nodes lag builds nothing that lands.
    const builder = this.#wrong.lagSlots === undefined ? victim : services[0]!;
    const built = await this.#rig.built(trader, this.#rig.buy(this.#index), builder);
    const forms = this.#isSignedTwice ? [built, trader.signAgain(built, 1_000_003n + BigInt(this.#index))] : [built];
    const wrong = this.#wrong.lagSlots === undefined ? [random.pick([0, 1])] : [0, 1];
    for (const at of wrong) await this.#rig.nodesOf(1)[at]!.set(this.#wrong);
    if (this.#fate !== "lands") for (const proxy of proxies) await proxy.set({ sends: "drop" });
    const killed = this.#kill === "none" ? undefined : this.#killAtPoint(victim);
    const back = this.#isAway ? this.#loseDatabase() : undefined;
    const submits = this.#submitAll(trader, forms);
    await Promise.all([killed, sleep(300 + Number(random.below(1_500n)))]);
    if (this.#fate === "late") await this.#landPast(random.pick(forms));
    if (this.#fate !== "lands") await this.#rig.sandbox.advanceSlots(EXPIRED_SLOTS);
    await back;
    if (killed !== undefined) await this.#replace(victim);
    await Promise.all(submits);
    const asked = this.#rig.services.flatMap((service) => forms.map((form) => ({ service, form })));
    const answers = await Promise.all(
      asked.map(({ service, form }) => submitUntilEnded(this.#rig, trader, form, END_MS, service)),
    );
    // Look-ups of each form at each process are judged with the answers.
    await Promise.all(asked.map(({ service, form }) => trader.find(service, form)));
    for (const proxy of proxies) await proxy.heal();
    return answers;
  }

  #submitAll(trader: Trader, forms: readonly BuildEntry[]): Promise<SubmitEntry>[] {
    const { random, services } = this.#rig;
    const to = this.#isByBoth ? [this.#victim, 1 - this.#victim] : [this.#victim];
    return to.flatMap((index, i) =>
      forms.map(async (form, k) => {
        if (i + k > 0) await sleep(Number(random.below(300n)));
        return trader.submit(services[index]!, form);
      }),
    );
  }

  /** Resolves once the process is killed; at the latest in three seconds. */
  #killAtPoint(victim: ServiceProcess): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const nodes = this.#rig.nodesOf(this.#victim);
    const { proxy: database } = this.#database;
    let isOver = false;
    const end = async () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(late);
      for (const node of nodes) node.onCall = undefined;
      database.onStatement = undefined;
      await victim.kill();
      resolve();
    };
    const late = setTimeout(end, 3_000);
    if (this.#kill === "claimed") {
      database.onStatement = (text) => {
        // The server does the statement; whether the process still receives its answer is a matter of luck.
        if (/^insert into submissions .*do nothing/.test(text.replaceAll('"', ""))) setTimeout(end, 1);
        return "forward";
      };
    } else for (const node of nodes) node.onCall = pointOf(this.#kill, end);
    return promise;
  }

  /** The database is away from a moment on, for a while. Resolves once it is back. */
  async #loseDatabase(): Promise<void> {
    const { random } = this.#rig;
    const [inMs, forMs] = [random.below(400n), 500n + random.below(BigInt(MOST_AWAY_MS - 500))];
    await sleep(Number(inMs));
    this.#database.proxy.down();
    await sleep(Number(forMs));
    this.#database.proxy.up();
  }

  /** Lands it, past the services. */
  async #landPast({ signed }: BuildEntry): Promise<void> {
    await this.#rig.rpc("sendTransaction", [signed, { encoding: "base64", skipPreflight: true }]);
    await sleep(2 * SLOT_MS);
  }

  /** Starts a process in the place of one that was killed: same nodes, same clock. */
  async #replace(victim: ServiceProcess): Promise<void> {
    const { services } = this.#rig;
    services.splice(services.indexOf(victim), 1);
    // Beside a node that lies, a process may find no chain to start on, until somebody sees to the node.
    const fresh = await this.#rig.startService(this.#victim).catch(async () => {
      for (const node of this.#rig.nodesOf(this.#victim)) await node.heal();
      return this.#rig.startService(this.#victim);
    });
    services.splice(services.indexOf(fresh), 1);
    services.splice(this.#victim, 0, fresh);
  }
}

/** What a node is called with when the process is to be killed. */
function pointOf(kill: "none" | "sending" | "sent" | "reading", end: () => Promise<void>): RpcProxy["onCall"] {
  return async (method, phase) => {
    const isHere =
      kill === "reading"
        ? method === "getTransaction" && phase === "answered"
        : method === "sendTransaction" && phase === (kill === "sent" ? "answered" : "arrived");
    if (isHere) await end();
  };
}
