import { setTimeout as sleep } from "node:timers/promises";
import { Mutator } from "./mutation.ts";
import { PoolWitness, type Verdict } from "./pool-witness.ts";
import type { Rig } from "./rig.ts";
import { type Measure, onRig, type Scenario, trades, until } from "./scenario.ts";
import type { BuildEntry, Trader } from "./trader.ts";

export const SLOT_MS = 80;
/** How long a lie lasts: on a busy machine longer, until enough builds were asked for to judge by, or it is given up. */
const LIE_MS = 7_000;
const LONGEST_LIE_MS = 60_000;
/** A lie may price builds for this long. */
const DETECTED_MS = 2_000;
const MOVES = 12;
const LEAST = 50;
const FACTORS = [0.5, 2] as const;
/** Who ask for builds side by side, each with a key of its own, and the pause of each between two. Milliseconds. */
const WATCHERS = 3;
const PAUSE_MS = 30;
/** The promised 20 seeds. */
const ALL_SEEDS = { scale: 1, runs: 20 };
/** Share of a node's answers and notices that are changed in any field. */
const SHARE = 0.3;

/** Builds priced while one node lies about token balances, over every transport. */
export const PRICE_SCENARIOS: readonly Scenario[] = [
  {
    row: 41,
    promise: "one of 2, one of 3 nodes halves or doubles every token balance",
    target: "0 builds on a lie later than 2 s after it began; 1 of 3: ≥ 99 % answered",
    promised: ALL_SEEDS,
    async run({ seed, scale }) {
      const measures: Measure[] = [];
      for (let i = 0; i < scale; i++) {
        for (const endpoints of [2, 3]) {
          for (let liar = 0; liar < endpoints; liar++) {
            const factor = FACTORS[(seed + liar + i) % 2]!;
            measures.push(await lieTo({ seed: seed + i, endpoints, liar, factor }));
          }
        }
      }
      return together(measures);
    },
  },
  {
    row: 41,
    promise: "one of 2, one of 3 nodes lies in any field about accounts",
    target: "0 builds on a lie later than 2 s after it began; 1 of 3: ≥ 99 % answered",
    promised: ALL_SEEDS,
    async run({ seed, scale }) {
      const measures: Measure[] = [];
      for (let i = 0; i < scale; i++)
        for (const endpoints of [2, 3]) measures.push(await lieInAnyField(seed + i, endpoints));
      return together(measures);
    },
  },
];

const together = (measures: readonly Measure[]): Measure => ({
  measured: measures.map(({ measured }) => measured).join("; "),
  broken: measures.flatMap(({ broken }) => broken),
});

interface Lie {
  readonly seed: number;
  readonly endpoints: number;
  readonly liar: number;
  readonly factor: (typeof FACTORS)[number];
}

function lieTo({ seed, endpoints, liar, factor }: Lie): Promise<Measure> {
  const name = `node ${liar + 1} of ${endpoints} × ${factor}`;
  return onRig({ seed, slotMs: SLOT_MS, traders: 1 + WATCHERS, endpoints }, (rig, expect) =>
    judgeLie(rig, expect, {
      name,
      isAnswering: endpoints > 2,
      begin: () => rig.proxies[liar]!.set({ balances: factor }),
      end: () => rig.proxies[liar]!.heal(),
    }),
  );
}

function lieInAnyField(seed: number, endpoints: number): Promise<Measure> {
  return onRig({ seed, slotMs: SLOT_MS, traders: 1 + WATCHERS, endpoints }, (rig, expect) => {
    const liar = rig.random.pick(rig.proxies);
    return judgeLie(rig, expect, {
      name: `node ${rig.proxies.indexOf(liar) + 1} of ${endpoints} in any field`,
      isAnswering: endpoints > 2,
      isRenewed: true,
      begin: () => liar.set({ mutator: new Mutator({ seed, share: SHARE, methods: "all" }) }),
      end: () => liar.heal(),
    });
  });
}

/** A lie about what accounts hold, kept up for some seconds. */
interface SentLie {
  readonly name: string;
  /** True if builds must go on meanwhile: most of those asked are true. */
  readonly isAnswering: boolean;
  /** True if the lie is another with each change: none may price builds for longer than 2 s, but each may do so for as long. */
  readonly isRenewed?: boolean;
  /** When the first change was reported wrongly; absent: as it began. */
  readonly lieSentAtMs?: () => number;
  /** Builds asked for that are enough to judge by. */
  readonly least?: number;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

/** Builds while the lie lasts, each judged by what the pool held. */
export async function judgeLie(
  rig: Rig,
  expect: (holds: boolean, what: string) => void,
  { name, isAnswering, isRenewed = false, lieSentAtMs, least = LEAST, begin, end }: SentLie,
): Promise<string> {
  const [mover, watcher, ...others] = rig.traders as [Trader, Trader, ...Trader[]];
  const witness = await PoolWitness.start(rig.sandbox);
  await trades(rig, 2);
  await rig.built(watcher, witness.buy());
  const moves: BuildEntry[] = [];
  for (let i = 0; i < MOVES; i++) moves.push(await rig.built(mover, witness.buy(0.05)));
  const refusedBefore = rig.history.refusedBuilds.length;
  const startedAtMs = Date.now();
  await begin();
  const builds = await buildFor(rig, { watchers: [watcher, ...others], witness, moves, least });
  const refused = rig.history.refusedBuilds.slice(refusedBefore);
  await end();
  const healMs = await until(async () => {
    const built = await watcher.build(rig.services[0]!.url, witness.buy());
    return built !== undefined && witness.isExact(built);
  }, 10_000);
  witness.close();
  const lateAtMs = (lieSentAtMs?.() ?? startedAtMs) + DETECTED_MS;
  const late = builds.filter((build) => build.startedAtMs >= lateAtMs);
  const isOld = (build: BuildEntry) =>
    !isRenewed || build.startedAtMs >= firstPricedLikeMs(build, builds) + DETECTED_MS;
  const wrong = late.filter((build) => !isTrue(witness, build) && isOld(build)).length;
  const early = builds.filter((build) => !late.includes(build) && !isTrue(witness, build)).length;
  // Of a market that is said to be gone, there is no route.
  const isSafe = (code: string) => code === "STATE_STALE" || (isRenewed && code === "NO_ROUTE");
  const otherwise = refused.find(({ status, code }) => !isSafe(code) || (code === "STATE_STALE") !== (status === 503));
  const share = builds.length / (builds.length + refused.length);
  expect(builds.length + refused.length > least, `${name}: too little was asked for to judge`);
  expect(wrong === 0, `${name}: ${wrong} of ${late.length} builds priced on the lie after ${DETECTED_MS} ms`);
  expect(otherwise === undefined, `${name}: refused as ${otherwise?.status} ${otherwise?.code}`);
  expect(healMs !== undefined, `${name}: no exact price after the lie`);
  if (isAnswering) expect(share >= 0.99, `${name}: ${Math.round(share * 1_000) / 10} % of builds answered`);
  return `${name}: ${builds.length} built, ${wrong} wrong of ${late.length} late, ${early} before, ${refused.length} refused, exact ${healMs} ms after`;
}

/** Who asks for builds during a lie, what moves the market meanwhile, and how many builds are to be asked for at least. */
interface Asking {
  readonly watchers: readonly Trader[];
  readonly witness: PoolWitness;
  readonly moves: readonly BuildEntry[];
  readonly least: number;
}

/** Builds again and again while the lie lasts and trades move the market. @returns what was built */
async function buildFor(rig: Rig, { watchers, witness, moves, least }: Asking): Promise<readonly BuildEntry[]> {
  const builds: BuildEntry[] = [];
  let isOver = false;
  const moving = (async () => {
    for (const { signed } of moves) {
      if (isOver) return;
      await rig.rpc("sendTransaction", [signed, { encoding: "base64", skipPreflight: true }]);
      await sleep(LIE_MS / MOVES);
    }
  })();
  const startMs = Date.now();
  let asked = 0;
  const isToGoOn = () => Date.now() < startMs + (asked > least ? LIE_MS : LONGEST_LIE_MS);
  const asking = watchers.map(async (watcher) => {
    for (; isToGoOn(); await sleep(PAUSE_MS)) {
      const built = await watcher.build(rig.services[0]!.url, witness.buy());
      asked += 1;
      if (built !== undefined) builds.push(built);
    }
  });
  await Promise.all(asking);
  isOver = true;
  await moving;
  return builds.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
}

/** When the first build in a row with the price of this one was asked for. */
function firstPricedLikeMs(build: BuildEntry, builds: readonly BuildEntry[]): number {
  const price = ({ estimates }: BuildEntry) => `${estimates.inputAmountRaw} ${estimates.outputAmountRaw}`;
  let first = builds.indexOf(build);
  while (first > 0 && price(builds[first - 1]!) === price(build)) first -= 1;
  return builds[first]!.startedAtMs;
}

function isTrue(witness: PoolWitness, build: BuildEntry): boolean {
  const verdict: Verdict = witness.judge(build, { mostAgeMs: DETECTED_MS, deadAfterMs: SLOT_MS });
  return verdict === "true" || verdict === "mixed";
}
