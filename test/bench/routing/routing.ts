/**
 * The router against an independent judge in seeded random worlds: `npm run bench:routing`, with `-- --asks N --seed S`.
 * Prints, by size of the trade, the share of the attainable gain over the best single path that the router reaches, and ends
 * with an error if a promise of docs/promises.md, row 57, is broken.
 */
import { parseArgs } from "node:util";
import { createRandom } from "../../../src/primitives/random.ts";
import { TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { Intent } from "../../../src/trade/intent.ts";
import { MOST_PATHS } from "../../../src/trade/quote/route-bounds.ts";
import { routesOf, type Snapshot } from "../../../src/trade/quote/snapshot.ts";
import { judge } from "./judge.ts";
import { drawWorld, type RoutingWorld } from "./worlds.ts";

const { values } = parseArgs({
  options: { asks: { type: "string", default: "2000" }, seed: { type: "string", default: "57" } },
});
/** Parts of the deepest market's reserve. */
const SIZES = [0.001, 0.01, 0.05, 0.2] as const;
const PROMISED = 0.995;

interface Tally {
  asks: number;
  single: number;
  ours: number;
  best: number;
  bound: number;
  worse: number;
  refused: number;
  micros: number;
}

const random = createRandom(Number(values.seed));
const tallies = new Map(
  SIZES.map((size): [number, Tally] => [
    size,
    { asks: 0, single: 0, ours: 0, best: 0, bound: 0, worse: 0, refused: 0, micros: 0 },
  ]),
);
for (let made = 0; made < Number(values.asks); ) {
  const world = drawWorld(random);
  for (const size of SIZES) {
    const amount = BigInt(Math.floor(Number(world.depth) * size * (0.5 + random.u32() / 2 ** 32)));
    const verdict = judge(world, amount, MOST_PATHS);
    if (verdict.single === 0) continue;
    made++;
    const tally = tallies.get(size)!;
    tally.asks++;
    const started = performance.now();
    const ours = route(world, amount);
    tally.micros += (performance.now() - started) * 1_000;
    if (ours === undefined) {
      tally.refused++;
      continue;
    }
    if (ours < verdict.single) tally.worse++;
    // By share of each trade, so that no ask counts more than another.
    tally.single += 1;
    tally.ours += ours / verdict.single;
    tally.best += Math.max(verdict.best, ours) / verdict.single;
    tally.bound += Math.max(verdict.bound, ours) / verdict.single;
  }
}

let broken = 0;
process.stdout.write("size   asks  mean gain  of attainable  of no limit  below single  refused  mean time\n");
for (const [size, tally] of tallies) {
  const gain = tally.ours - tally.single;
  const reached = tally.best === tally.single ? 1 : gain / (tally.best - tally.single);
  const unlimited = tally.bound === tally.single ? 1 : gain / (tally.bound - tally.single);
  if (reached < PROMISED || tally.worse > 0 || tally.refused > 0) broken++;
  const percent = (part: number) => `${(part * 100).toFixed(3)} %`;
  process.stdout.write(
    `${`${size * 100} %`.padEnd(6)} ${String(tally.asks).padEnd(5)} ${percent(gain / tally.asks).padEnd(10)} ${percent(reached).padEnd(14)} ${percent(unlimited).padEnd(12)} ${String(tally.worse).padEnd(13)} ${String(tally.refused).padEnd(8)} ${(tally.micros / tally.asks).toFixed(0)} µs\n`,
  );
}
if (broken > 0) process.stdout.write(`${broken} of ${SIZES.length} sizes miss what row 57 promises\n`);
process.exitCode = broken > 0 ? 1 : 0;

function route({ mints, marketsOf, clock }: RoutingWorld, amount: bigint): number | undefined {
  const [inMint, outMint, ...hubs] = mints;
  const mint = (address: (typeof mints)[number]) =>
    ({ address, program: TOKEN_PROGRAM, decimals: 9, supply: 10n ** 18n }) as Intent["inMint"];
  const intent: Intent = {
    inMint: mint(inMint!),
    outMint: mint(outMint!),
    mode: "exactIn",
    amount,
    slippagePpb: 0n,
    emptied: undefined,
  };
  const snapshot: Snapshot = {
    direct: marketsOf(inMint!, outMint!),
    hubs: hubs.map((hub) => ({
      hub,
      mint: mint(hub),
      toHub: marketsOf(inMint!, hub),
      fromHub: marketsOf(hub, outMint!),
    })),
    between: hubs.flatMap((from) =>
      hubs.filter((to) => to !== from).map((to) => ({ from, to, pair: marketsOf(from, to) })),
    ),
  };
  try {
    return Number(routesOf({ searchSoon: () => undefined }, intent, snapshot, clock).routes[0]!.outAmount);
  } catch {
    return undefined;
  }
}
