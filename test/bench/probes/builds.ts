/**
 * A process that makes builds and says what one takes, batch by batch: of one pair, of spread traffic, with updates between them,
 * and with many markets of a mint. It uses no more of the service than the build story, so that it runs on earlier revisions too.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { buildTrade } from "../../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../../src/trade/trade.ts";
import { answerParent } from "../child.ts";
import { cpuMicros, cpuMicrosOf, hashKibibyte } from "../measure.ts";
import { buildEach, randomBuy, randomBuys } from "../spread/spread-requests.ts";
import { FULL_SPREAD, openSpreadWorld, type SpreadWorld } from "../spread/spread-world.ts";
import type { BuildProbe, BuildQuestion } from "./build-probes.ts";

/** Builds of one batch, and hashes. */
const BATCH = 300;
const HASHES = 3_000;
/** Markets of each mint in the second world. */
const MANY = 64;
/** Markets found of a mint of which only the best are live, and as many mints as that is measured on. */
const THOUSAND = 1_000;
const CROWDED = { wallets: 16, mints: 2, mintsPerWallet: 2 } as const;
/**
 * What is compared with one another by numbers of markets: all in rounds of one build of each mint, the updates of a round before
 * it. A batch of one such round would measure how cold the processor's caches are after the others.
 */
const BY_ROUNDS: ReadonlySet<BuildProbe> = new Set([
  "oneMarket",
  "many",
  "manyOneUpdate",
  "oneAfterUpdates",
  "manyAllUpdated",
  "foundMany",
  "foundThousand",
]);
const ROUNDS = 24;
const UPDATE_ROUNDS = 4;

const seed = 17;
const scale = Number(process.argv[2] ?? 1);
const spread = await openSpreadWorld(
  { ...FULL_SPREAD, wallets: FULL_SPREAD.wallets / scale, mints: FULL_SPREAD.mints / scale },
  seed,
);
const many = await openSpreadWorld({ wallets: 64, mints: 8, mintsPerWallet: 2, marketsPerMint: MANY }, seed);
const single = await openSpreadWorld({ wallets: 64, mints: 8, mintsPerWallet: 2, marketsPerMint: 1 }, seed);
const foundMany = await openSpreadWorld({ ...CROWDED, marketsPerMint: MANY }, seed);
const foundThousand = await openSpreadWorld({ ...CROWDED, marketsPerMint: THOUSAND }, seed);
const worlds = [spread, many, single, foundMany, foundThousand];
for (const world of worlds) await buildEach(world);

answerParent({ ready: true }, async ({ probe, bytes }: BuildQuestion) => {
  await nextTurn();
  return { value: await (bytes === true ? bytesOf(probe) : microsOf(probe)) };
});

async function microsOf(probe: BuildProbe): Promise<number> {
  if (probe === "hash") return cpuMicrosOf(hashKibibyte, HASHES);
  if (probe === "manyUpdate") return updateMicros();
  let micros = 0;
  const rounds = BY_ROUNDS.has(probe) ? ROUNDS : 1;
  beginSlots();
  for (let round = 0; round < rounds; round++) {
    const builds = prepare(probe);
    // Updates and calls come in turns of their own.
    await nextTurn();
    let next = 0;
    micros += cpuMicrosOf(() => builds[next++]!(), builds.length) / rounds;
  }
  return micros;
}

/** What an update takes of one of many markets that a trade has asked for since its last: all that comes of it before the next trade. */
async function updateMicros(): Promise<number> {
  let micros = 0;
  const markets = many.mints.flatMap((mint) => many.marketsOf.get(mint)!);
  for (let round = 0; round < UPDATE_ROUNDS; round++) {
    buildMany();
    const before = cpuMicros();
    for (const market of markets) many.chain.touch(market);
    await nextTurn();
    micros += cpuMicros() - before;
  }
  // The probes after this one build on unchanged markets.
  buildMany();
  return micros / UPDATE_ROUNDS / markets.length;
}

/** A build of each mint with many markets: it takes in what has changed. */
function buildMany(): void {
  for (const build of buildsOf(many, buyOfEach(many))) build();
}

/** However long it has waited for a processor, the state is fresh. */
function beginSlots(): void {
  for (const { chain } of worlds) chain.beginSlot();
}

/** Bytes that a build leaves to the collector; only right if none runs meanwhile. */
async function bytesOf(probe: BuildProbe): Promise<number> {
  const builds = prepare(probe).slice(0, 100);
  await nextTurn();
  globalThis.gc?.();
  beginSlots();
  const before = process.memoryUsage();
  for (const build of builds) build();
  const after = process.memoryUsage();
  return (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / builds.length;
}

/** A batch of builds; updates that come before them are made here, and are not measured. */
function prepare(probe: BuildProbe): (() => void)[] {
  switch (probe) {
    case "onePair":
      return buildsOf(
        spread,
        Array.from({ length: BATCH }, () => randomBuy(spread.pairs[0]!, spread.random)),
      );
    case "updated": {
      const requests = randomBuys(spread, BATCH);
      for (const { outMint } of requests) spread.chain.touch(spread.marketsOf.get(outMint)![0]!);
      return buildsOf(spread, requests);
    }
    case "oneMarket":
      return buildsOf(single, buyOfEach(single));
    // As many updates as before `manyAllUpdated`, and none of them its own: what they push out of the processor's caches.
    case "oneAfterUpdates":
      buildMany();
      for (const markets of many.marketsOf.values()) for (const market of markets) many.chain.touch(market);
      return buildsOf(single, buyOfEach(single));
    case "many":
      return buildsOf(many, buyOfEach(many));
    case "foundMany":
      return buildsOf(foundMany, buyOfEach(foundMany));
    case "foundThousand":
      return buildsOf(foundThousand, buyOfEach(foundThousand));
    case "manyOneUpdate":
    case "manyAllUpdated": {
      // Each build meets the updates made for it.
      const requests = buyOfEach(many);
      for (const mint of many.mints) {
        const markets = many.marketsOf.get(mint)!;
        const changed = probe === "manyOneUpdate" ? [many.random.pick(markets)] : markets;
        for (const market of changed) many.chain.touch(market);
      }
      return buildsOf(many, requests);
    }
    default:
      return buildsOf(spread, randomBuys(spread, BATCH));
  }
}

/** A buy of each mint. */
function buyOfEach({ mints, pairs, random }: SpreadWorld): readonly TradeRequest[] {
  return mints.map((mint) => randomBuy(random.pick(pairs.filter((pair) => pair.mint === mint)), random));
}

function buildsOf({ ports }: SpreadWorld, requests: readonly TradeRequest[]): (() => void)[] {
  return requests.map((request) => () => {
    if (buildTrade(ports, request) instanceof Promise) throw new Error("a warm build waited");
  });
}
