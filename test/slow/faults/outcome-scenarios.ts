import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { type MutationPlan, Mutator } from "./mutation.ts";
import type { Rig } from "./rig.ts";
import type { RpcProxy } from "./rpc-proxy.ts";
import { ended, landed, type Measure, onRig, type Scenario, submitUntilEnded, trades } from "./scenario.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

/** As long as the network's: what matters here is what is said, and chain and services share two cores. Milliseconds. */
const SLOT_MS = 200;
/** Longest that a build may take to succeed; builds are not the point. Milliseconds. */
const BUILD_MS = 60_000;
/** Who trade at the same time while a node lies: most of a trade is waiting. */
const TRADERS = 16;
/** Longest that a trade may take to end while one of three nodes lies. Milliseconds. */
const END_MS = 35_000;
/** Past the time for which the service relies on the nodes' history, as its clock shows. Milliseconds. */
const LONG_AGO_MS = 25 * 3_600_000;
/** Slots after which a message has expired, finally. */
const EXPIRED_SLOTS = 200;
/** Slots after which no node is certain to remember a status. */
const FORGOTTEN_SLOTS = 420;

/** How nodes lie about the way trades ended, and what the service may say then. */
export const OUTCOME_SCENARIOS: readonly Scenario[] = [
  {
    row: 41,
    promise: "one of three nodes lies in any field of any answer and notice",
    target: "0 false ends, amounts, finality; ≥ 99 % end within 35 s",
    promised: { scale: 4, runs: 20 },
    run: ({ seed, scale }) =>
      underLies({ seed, trades: 16 * scale, endpoints: 3, plan: { share: 0.3, methods: "all" }, isEnding: true }),
  },
  {
    row: 41,
    promise: "one of two nodes lies in any field of any answer and notice",
    target: "0 false ends, amounts, finality",
    promised: { scale: 4, runs: 20 },
    run: ({ seed, scale }) =>
      underLies({ seed, trades: 16 * scale, endpoints: 2, plan: { share: 0.3, methods: "all" }, isEnding: false }),
  },
  {
    row: 42,
    promise: "a status alone, or one that contradicts the record",
    target: "never terminal, never safe to rebuild",
    promised: { scale: 4, runs: 5 },
    run: statusesAlone,
  },
  {
    row: 43,
    promise: "kill -9 with a message followed under several signatures",
    target: "0 false TX_EXPIRED",
    promised: { scale: 25, runs: 10 },
    run: ({ seed, scale }) =>
      onRig({ seed, processes: 2, traders: 2, slotMs: SLOT_MS }, async (rig, expect) => {
        const taken = await secondSignatures(rig, 4 * scale, 4 * scale);
        const done = taken.filter(({ isInBlock }) => isInBlock);
        const wrong = done.filter(({ answer }) => landed([answer]) === 0).map(({ answer }) => answer);
        const words = wrong.map(({ error, data }) => error?.code ?? data?.status).join(", ");
        expect(wrong.length === 0, `${wrong.length} landed and were answered ${words}`);
        // A machine too busy to send them within the life of their blockhash shows nothing.
        expect(2 * done.length > taken.length, `only ${done.length} of ${taken.length} landed`);
        return `${done.length - wrong.length} of ${done.length} that landed reported as landed, of ${taken.length}`;
      }),
  },
  {
    row: 52,
    promise: "old bytes, with records deleted and history hidden by every node",
    target: "nothing can be said: never safe to rebuild",
    promised: { scale: 10, runs: 2 },
    run: ({ seed, scale }) =>
      onRig({ seed, slotMs: SLOT_MS, clockSkewsMs: [0, 0, LONG_AGO_MS] }, async (rig, expect) => {
        const count = 4 * scale;
        const entries = await trades(rig, count);
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land at first`);
        const builds = [...rig.history.builds];
        await rig.services.shift()!.stop();
        await rig.sandbox.advanceSlots(FORGOTTEN_SLOTS);
        for (const proxy of rig.proxies) await proxy.set({ hidesStatuses: true });
        const codes = new Set<string>();
        for (const skewed of [1, 2]) {
          forget(rig);
          const service = await rig.startService(skewed);
          for (const built of builds) {
            const trader = rig.traders.find(({ address }) => address === built.wallet)!;
            const { data, error } = await trader.submit(service, built);
            codes.add(error?.code ?? `${data?.status}`);
            expect(error?.code === "OUTCOME_UNKNOWN", `answered ${error?.code ?? data?.status}`);
            expect(error?.safeToRebuild !== true, "called safe to rebuild");
          }
          rig.services.splice(rig.services.indexOf(service), 1);
          await service.stop();
        }
        // What is known of the trades before is not to be compared with answers that had to forget it.
        rig.history.submits.length = 0;
        rig.history.lookUps.length = 0;
        return `${2 * builds.length} old trades answered ${[...codes].join(", ")}`;
      }),
  },
];

interface Lies {
  readonly seed: number;
  readonly trades: number;
  readonly endpoints: number;
  readonly plan: Omit<MutationPlan, "seed">;
  /** True if every trade must end. */
  readonly isEnding: boolean;
}

/** Trades while one node lies, by a plan drawn from the seed. The ledger judges every answer, as after every scenario. */
function underLies({ seed, trades: count, endpoints, plan, isEnding }: Lies): Promise<Measure> {
  const environment = { SUBMIT_TIMEOUT_MS: "3000" };
  const traders = Math.min(TRADERS, count);
  return onRig({ seed, endpoints, traders, slotMs: SLOT_MS, environment }, async (rig, expect) => {
    const mutator = new Mutator({ ...plan, seed });
    const liar = rig.random.pick(rig.proxies);
    await liar.set({ mutator });
    const finality = { early: 0, asked: 0 };
    const done = await Promise.all(
      rig.traders.map(async (trader, t) => {
        const own: SubmitEntry[] = [];
        for (let i = 0; i < count / rig.traders.length; i++) {
          const built = await rig.built(trader, rig.buy(i + t), rig.services[0]!, BUILD_MS);
          const entry = await submitUntilEnded(rig, trader, built, isEnding ? END_MS : 6_000);
          own.push(entry);
          if (ended(entry)) await watchFinality(rig, trader, built, finality);
        }
        return own;
      }),
    );
    const entries = done.flat();
    const over = entries.filter(ended).length;
    const isEnough = over >= entries.length * (isEnding ? 0.99 : 0.5);
    expect(isEnough, `${over} of ${entries.length} ended`);
    expect(finality.early === 0, `${finality.early} called finalized too early`);
    expect(mutator.changed > 0, "nothing was changed");
    expect(
      rig.services.every(({ isRunning }) => isRunning),
      "the service ended",
    );
    return `${over} of ${entries.length} ended (${landed(entries)} landed), ${finality.asked} looked up; ${mutator.changed} answers changed`;
  });
}

/** Looks a trade up a few times: what is called finalized has to be final on the chain by then. */
async function watchFinality(
  rig: Rig,
  trader: Trader,
  built: BuildEntry,
  finality: { early: number; asked: number },
): Promise<void> {
  for (let i = 0; i < 4; i++) {
    const { data } = await trader.find(rig.services[0]!, built);
    finality.asked += 1;
    if (data?.status === "finalized") {
      const finalized = await rig.rpc<number>("getSlot", [{ commitment: "finalized" }]);
      if (finalized < data.slot!) finality.early += 1;
      return;
    }
    await sleep(150);
  }
}

/** Statuses that say what no record says: with one node, and with one of two. */
async function statusesAlone({ seed, scale }: { readonly seed: number; readonly scale: number }): Promise<Measure> {
  const measures: Measure[] = [];
  for (const endpoints of [1, 2]) {
    const environment = { SUBMIT_TIMEOUT_MS: "8000" };
    measures.push(
      await onRig({ seed, endpoints, slotMs: SLOT_MS, environment }, async (rig, expect) => {
        const [liar, ...others] = rig.proxies;
        for (const proxy of rig.proxies) await proxy.set({ sends: "drop" });
        for (const other of others) await other.set({ sends: "hold" });
        const builds = await Promise.all(
          Array.from({ length: 4 * scale }, (_, i) =>
            rig.built(rig.traders[i % 2]!, rig.buy(i), rig.services[0]!, BUILD_MS),
          ),
        );
        await liar!.set({ statuses: rig.random.pick(["failed", "succeeded"]) });
        const entries = await Promise.all(
          builds.map((built, i) => rig.traders[i % 2]!.submit(rig.services[0]!, built)),
        );
        const terminal = entries.filter(ended).length;
        const safe = entries.filter(({ error }) => error?.safeToRebuild === true).length;
        expect(terminal === 0, `${terminal} ended on a status alone`);
        expect(safe === 0, `${safe} called safe to rebuild`);
        // A late copy lands: the answer is what the chain did.
        await liar!.set({ statuses: "true" });
        for (const { signed } of builds)
          await rig.rpc("sendTransaction", [signed, { encoding: "base64", skipPreflight: true }]);
        const late = await Promise.all(
          builds.map((built, i) => submitUntilEnded(rig, rig.traders[i % 2]!, built, 30_000)),
        );
        expect(landed(late) === late.length, `${late.length - landed(late)} late copies not reported as landed`);
        return `${entries.length} with ${endpoints} node${endpoints > 1 ? "s" : ""}: ${terminal} ended, ${safe} safe; ${landed(late)} late copies landed`;
      }),
    );
  }
  return {
    measured: measures.map(({ measured }) => measured).join("; "),
    broken: measures.flatMap(({ broken }) => broken),
  };
}

/** A message that was signed twice. */
interface SecondSignature {
  /** What the process that takes over says of its first signature. */
  readonly answer: SubmitEntry;
  /** Whether the chain has it under the second one. */
  readonly isInBlock: boolean;
}

/**
 * Messages submitted to a process whose sends are lost, then signed again: `through` go to the same process, which is killed a
 * moment later, `elsewhere` go to the chain alone.
 */
async function secondSignatures(rig: Rig, through: number, elsewhere: number): Promise<SecondSignature[]> {
  const [victim, survivor] = [rig.services.shift()!, rig.services[0]!];
  for (const proxy of rig.proxies as RpcProxy[]) await proxy.set({ sends: "drop" });
  const cases = await Promise.all(
    Array.from({ length: through + elsewhere }, async (_, i) => {
      const trader = rig.traders[i % rig.traders.length]!;
      const first = await rig.built(trader, rig.buy(i), victim, BUILD_MS);
      return { trader, first, second: trader.signAgain(first, 1_000_003n + BigInt(i)), isElsewhere: i >= through };
    }),
  );
  const lost = cases.map(async ({ trader, first, second, isElsewhere }) => {
    const one = trader.submit(victim, first);
    await sleep(Number(rig.random.below(60n)));
    return Promise.all([one, isElsewhere ? undefined : trader.submit(victim, second)]);
  });
  await sleep(60 + Number(rig.random.below(60n)));
  await victim.kill();
  await Promise.all(lost);
  for (const { second } of cases)
    await rig.rpc("sendTransaction", [second.signed, { encoding: "base64", skipPreflight: true }]);
  // Past the message's life, so that only proof keeps the first signature from being called expired.
  await sleep(2 * SLOT_MS);
  await rig.sandbox.advanceSlots(EXPIRED_SLOTS);
  return Promise.all(
    cases.map(async ({ trader, first, second }) => {
      const answer = await submitUntilEnded(rig, trader, first, 60_000, survivor);
      const record = await rig.rpc("getTransaction", [second.signature, { maxSupportedTransactionVersion: 1 }]);
      return { answer, isInBlock: record !== null };
    }),
  );
}

/** Deletes what the service remembers of its submissions. */
function forget(rig: Rig): void {
  const database = new DatabaseSync(join(rig.dataDir, "tradewire.sqlite"));
  database.exec("delete from submissions; delete from submission_signatures");
  database.close();
}
