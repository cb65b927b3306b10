import { setTimeout as sleep } from "node:timers/promises";
import { PoolWitness, type Verdict } from "./pool-witness.ts";
import type { Rig } from "./rig.ts";
import { landed, onRig, type Scenario, trade, trades, until } from "./scenario.ts";
import type { BuildEntry, SubmitEntry, Trader } from "./trader.ts";

const SLOT_MS = 80;
/** No build on state older than this. */
const MOST_AGE_MS = 2_000;
/** The stream's state is held against reads: by the audit, or, with several nodes, by the comparison of nodes. */
const AUDITED = ["tradewire_state_audited_total", "tradewire_state_compared_total"] as const;
const DIFFERENCES = ["tradewire_state_audit_differences_total", "tradewire_state_contradicted_total"] as const;

/** Of row 7. Where trades are rare, what is lost of one is not made good by the news of the next. */
const PHASES = [
  { notices: "lossy", lastMs: 12_000, everyMs: 2_600 },
  { notices: "lossy", lastMs: 3_000, everyMs: 150 },
  { notices: "duplicate", lastMs: 3_000, everyMs: 150 },
  { notices: "silent", lastMs: 4_000, everyMs: 150 },
] as const;

/** Streams with gaps, and chains that change their mind. */
export const STATE_SCENARIOS: readonly Scenario[] = [
  {
    row: 7,
    promise: "notices lost, doubled, out of order; streams silent; nodes gone for 4 s",
    target: "prices exact ≤ 2 s after; 0 builds on state > 2 s old (STATE_STALE)",
    run: ({ seed, scale }) =>
      onRig({ seed, slotMs: SLOT_MS, traders: 2 }, async (rig, expect) => {
        const [mover, watcher] = rig.traders as [Trader, Trader];
        const witness = await PoolWitness.start(rig.sandbox);
        await trades(rig, 2);
        const calm = await buildThrough(rig, watcher, witness, () => moveFor(rig, mover, witness, 2_000, 150));
        const calmAudit = await auditOf(rig);
        const rough: BuildEntry[] = [];
        let healMs = 0;
        let refusedWhileReadable = 0;
        for (let i = 0; i < scale; i++) {
          const refusedBefore = rig.history.refusedBuilds.length;
          for (const { notices, lastMs, everyMs } of PHASES) {
            for (const proxy of rig.proxies) await proxy.set({ notices });
            const story = () => moveFor(rig, mover, witness, lastMs, everyMs);
            rough.push(...(await buildThrough(rig, watcher, witness, story)));
          }
          refusedWhileReadable += rig.history.refusedBuilds.length - refusedBefore;
          rough.push(
            ...(await buildThrough(rig, watcher, witness, async () => {
              const moves: BuildEntry[] = [];
              for (let n = 0; n < 14; n++) moves.push(await rig.built(mover, witness.buy(0.05)));
              for (const proxy of rig.proxies) await proxy.set({ connection: "blackhole" });
              for (const move of moves) {
                await land(rig, move);
                await sleep(300);
              }
              for (const proxy of rig.proxies) await proxy.heal();
              const isBack = async () => {
                const built = await watcher.build(rig.services[0]!.url, witness.buy());
                return built !== undefined && witness.isExact(built);
              };
              healMs = Math.max(healMs, (await until(isBack, 10_000)) ?? Number.POSITIVE_INFINITY);
            })),
          );
        }
        witness.close();
        const verdicts = verdictsOf(witness, [...calm, ...rough]);
        const wrong = wrongOf(verdicts);
        const refused = rig.history.refusedBuilds;
        const otherwise = refused.filter(({ status, code }) => status !== 503 || code !== "STATE_STALE");
        const audit = await auditOf(rig);
        expect(calm.length > 0 && rough.length > 0 && witness.states > 20, "too little was built or moved to judge");
        expect(wrong === 0, describe(verdicts));
        expect(healMs <= 2_000, `prices exact ${healMs} ms after the nodes were back`);
        expect(refusedWhileReadable === 0, `${refusedWhileReadable} builds refused though nodes answered reads`);
        expect(refused.length > 0, "no build was refused while nothing could be known");
        expect(otherwise.length === 0, `refused as ${otherwise[0]?.status} ${otherwise[0]?.code}`);
        expect(calmAudit.audited > 0, "nothing was audited");
        expect(calmAudit.differences === 0, `${calmAudit.differences} differences before anything was lost`);
        return `exact ${healMs} ms after; ${wrong} of ${verdicts.length} builds on older state (${witness.states} states; ${countOf(verdicts, "mixed")} mixed), ${refused.length} refused; audit: ${calmAudit.differences} of ${calmAudit.audited} differ before, ${audit.differences} found lost of ${audit.audited}`;
      }),
  },
  {
    row: 8,
    promise: "forks under open trades",
    target: "0 builds from a dead slot 1 slot after; confirmed never taken back; audit 0",
    run: ({ seed, scale }) =>
      onRig({ seed, slotMs: SLOT_MS, confirmedAfterSlots: 12, traders: 3 }, async (rig, expect) => {
        const [mover, watcher, trader] = rig.traders as [Trader, Trader, Trader];
        const witness = await PoolWitness.start(rig.sandbox);
        const rounds = 4 * scale;
        const entries: SubmitEntry[] = [];
        let exact = 0;
        const elsewhere = await indexElsewhere(rig, trader, witness);
        const builds = await buildThrough(rig, watcher, witness, async () => {
          for (let i = 0; i < rounds; i++) {
            const big = await rig.built(mover, witness.buy(2));
            // In flight when the chain turns: in a block that is dropped, and in another one later.
            const open = trade(rig, trader, elsewhere);
            // Straight to the chain, once, so that it does not land again after the fork.
            await land(rig, big);
            await sleep(200);
            expect((await rig.sandbox.fork(8)) > 0, "nothing was dropped");
            await sleep(2 * SLOT_MS);
            const built = await rig.built(watcher, witness.buy());
            if (witness.isExact(built)) exact += 1;
            entries.push(await open);
          }
        });
        witness.close();
        const verdicts = verdictsOf(witness, builds);
        const { audited, differences } = await auditOf(rig);
        expect(builds.length > 10 * rounds, "too little was built to judge");
        expect(wrongOf(verdicts) === 0, describe(verdicts));
        expect(exact === rounds, `${rounds - exact} prices came from a dropped branch`);
        expect(landed(entries) === entries.length, `${entries.length - landed(entries)} did not land`);
        expect(audited > 0 && differences === 0, `${differences} of ${audited} reads differ from the stream`);
        return `${wrongOf(verdicts)} of ${builds.length} builds from dropped blocks; ${exact} of ${rounds} prices exact after a fork; ${landed(entries)} of ${entries.length} landed; audit: ${differences} of ${audited} differ`;
      }),
  },
];

/** Builds again and again while the story goes on. @returns what was built */
async function buildThrough(
  rig: Rig,
  trader: Trader,
  witness: PoolWitness,
  story: () => Promise<void>,
): Promise<BuildEntry[]> {
  const builds: BuildEntry[] = [];
  let isOver = false;
  const building = (async () => {
    while (!isOver) {
      const built = await trader.build(rig.services[0]!.url, witness.buy());
      if (built !== undefined) builds.push(built);
      await sleep(30);
    }
  })();
  try {
    await story();
  } finally {
    isOver = true;
    await building;
  }
  return builds;
}

/** Trades in the witnessed market, straight on the chain. */
async function moveFor(rig: Rig, mover: Trader, witness: PoolWitness, lastMs: number, everyMs: number): Promise<void> {
  for (const endMs = Date.now() + lastMs; Date.now() < endMs; await sleep(everyMs)) {
    const built = await mover.build(rig.services[0]!.url, witness.buy(0.05));
    if (built !== undefined) await land(rig, built);
  }
}

async function land(rig: Rig, { signed }: BuildEntry): Promise<void> {
  await rig.rpc("sendTransaction", [signed, { encoding: "base64", skipPreflight: true }]);
}

/** Which small buy leaves the witnessed pool alone, so that this one holds still while it is looked at. */
async function indexElsewhere(rig: Rig, trader: Trader, witness: PoolWitness): Promise<number> {
  for (let index = 1; index < rig.sandbox.world.tokens.length; index++) {
    if (!witness.isMovedBy(await rig.built(trader, rig.buy(index)))) return index;
  }
  throw new Error("every trade of this world crosses the witnessed pool");
}

const verdictsOf = (witness: PoolWitness, builds: readonly BuildEntry[]): readonly Verdict[] =>
  builds.map((build) => witness.judge(build, { mostAgeMs: MOST_AGE_MS, deadAfterMs: SLOT_MS }));

const countOf = (verdicts: readonly Verdict[], kind: Verdict) => verdicts.filter((one) => one === kind).length;

const wrongOf = (verdicts: readonly Verdict[]) =>
  verdicts.length - countOf(verdicts, "true") - countOf(verdicts, "mixed");

const describe = (verdicts: readonly Verdict[]) =>
  `of ${verdicts.length} builds ${(["stale", "dead", "unknown"] as const).map((kind) => `${countOf(verdicts, kind)} ${kind}`).join(", ")}`;

async function auditOf({
  services: [service],
}: Rig): Promise<{ readonly audited: number; readonly differences: number }> {
  const sum = async (names: readonly string[]) => {
    const counts = await Promise.all(names.map((name) => service!.metric(name)));
    return counts.reduce((total, count) => total + count, 0);
  };
  return { audited: await sum(AUDITED), differences: await sum(DIFFERENCES) };
}
