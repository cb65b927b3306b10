/**
 * Row 45: what one key that floods cold searches does to its neighbours' warm builds. Two services on one embedded chain serve a
 * neighbour each at the same time, the attacker floods one of them and then the other; other work on the machine meets both alike.
 */
import { styleText } from "node:util";
import type { Address } from "../../../src/primitives/address.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { type Answer, startCallers } from "../../slow/edge/caller-process.ts";
import { type CoreTime, usedWithin } from "../../slow/edge/core-times.ts";
import { Latencies, p99 } from "../../slow/edge/latencies.ts";
import { callText } from "../../slow/edge/sockets.ts";
import { ms, percentile } from "../../slow/edge/table.ts";
import { newAddress, putColdTokens } from "./cold-tokens.ts";
import { type SearchingService, startSearchingService } from "./service-process.ts";

const MOST = 1.5;
const RUN_MS = 3_000;
const PAIRS = 7;
/** Calls of the attacker in a second, half of them for mints that do not exist, half for real ones that nobody traded. */
const PER_SECOND = 40;

/** Pairs of runs within which a key uses up its burst: two runs of 60 searches at each service. */
const PAIRS_PER_KEY = 4;

/**
 * What is asked for in turn: mints that do not exist, real ones within the bursts of two keys, which are one address's, and both with the
 * second of these keys once its burst is used up.
 */
const FLOODS = [
  { name: "no attack", isReal: () => false, perSecond: 0, pairs: 3 },
  { name: "mints that do not exist", isReal: () => false, perSecond: PER_SECOND, pairs: PAIRS },
  {
    name: "with real cold ones, within the burst",
    isReal: (i: number) => i % 2 === 0,
    perSecond: PER_SECOND,
    pairs: 2 * PAIRS_PER_KEY,
    isInBurst: true,
  },
  {
    name: "with real cold ones, at the key's rate",
    isReal: (i: number) => i % 2 === 0,
    perSecond: PER_SECOND,
    pairs: PAIRS,
  },
];

const buy = (key: string, mint: Address) =>
  callText({
    path: "/v1/tx/buy",
    body: { mint: mint.toString(), solAmount: 0.1, slippage: 0.05, priority: "fast" },
    key,
  });

const sandbox = await startSandbox();
const environment = {
  SOLANA_RPC_URL: sandbox.rpcUrl,
  SOLANA_WS_URL: sandbox.wsUrl,
};
const services = await Promise.all([startSearchingService(environment), startSearchingService(environment)]);
const warm = sandbox.world.tokens.find(({ symbol }) => symbol === "EMBER")!.mint;
const cold = await putColdTokens(sandbox, warm, ((PAIRS + 2 * PAIRS_PER_KEY) * PER_SECOND * RUN_MS) / 2_000);

/** A neighbour at each service, and the attacker at the first. */
async function run(attacked: SearchingService, other: SearchingService, flood: readonly string[]) {
  const neighbour = { connections: 4, perSecond: 190, durationMs: RUN_MS };
  const attacker = {
    port: attacked.port,
    connections: 100,
    perSecond: (flood.length * 1_000) / RUN_MS,
    durationMs: RUN_MS,
  };
  const callers = await Promise.all([
    startCallers({ ...neighbour, port: attacked.port, request: buy(attacked.neighbour, warm) }),
    startCallers({ ...neighbour, port: other.port, request: buy(other.neighbour, warm) }),
    ...(flood.length === 0 ? [] : [startCallers({ ...attacker, request: flood[0]!, requests: flood, givesWay: true })]),
  ]);
  const [disturbed, calm, attack] = await Promise.all(callers.map((each) => each.run()));
  const [times, calmTimes] = [await attacked.coreTimes(), await other.coreTimes()];
  return { disturbed: disturbed!, calm: calm!, attack, times, calmTimes };
}

const usedOf = (times: readonly CoreTime[]) => (times.at(-1)?.usedMs ?? 0) - (times[0]?.usedMs ?? 0);

/** Processor time of the service's thread between each call and its answer, at most. Milliseconds. */
const usedFor = (answers: readonly Answer[], times: readonly CoreTime[]) =>
  answers.map(({ fromMs, toMs }) => usedWithin(times, fromMs, toMs));

const newKeys = () => Promise.all(services.map((service) => service.newKey()));
let attackers = await newKeys();
for (const { name, isReal, perSecond, pairs, isInBurst = false } of FLOODS) {
  const [alone, beside] = [new Latencies(), new Latencies()];
  const [used, usedBeside]: [number[], number[]] = [[], []];
  const ratios: number[] = [];
  const clockRatios: number[] = [];
  const statuses = new Map<number, number>();
  let spentMs = 0;
  for (let pair = 0; pair < pairs; pair++) {
    if (isInBurst && pair % PAIRS_PER_KEY === 0) attackers = await newKeys();
    const [attacked, other] = pair % 2 === 0 ? services : ([services[1], services[0]] as const);
    const flood = Array.from({ length: (perSecond * RUN_MS) / 1_000 }, (_, i) =>
      buy(attackers[pair % 2]!, isReal(i) ? cold.pop()! : newAddress()),
    );
    const { disturbed, calm, attack, times, calmTimes } = await run(attacked, other, flood);
    for (const { status } of attack?.answers ?? []) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    spentMs += usedOf(times) - usedOf(calmTimes);
    alone.add(calm, calmTimes);
    beside.add(disturbed, times);
    const [own, ownBeside] = [usedFor(calm.answers, calmTimes), usedFor(disturbed.answers, times)];
    used.push(...own);
    usedBeside.push(...ownBeside);
    ratios.push(percentile(ownBeside, 0.99) / percentile(own, 0.99));
    clockRatios.push(p99(disturbed.answers) / p99(calm.answers));
  }
  const median = percentile(ratios, 0.5);
  const verdict = median <= MOST ? styleText("green", "holds") : styleText("red", "missed");
  const calls = [...statuses.values()].reduce((sum, n) => sum + n, 0);
  const at = (share: number) => `${ms(percentile(used, share))} → ${ms(percentile(usedBeside, share))}`;
  process.stdout.write(
    `${name}: warm p99 × ${median.toFixed(2)} in the median of ${pairs} pairs (${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}), ${verdict}\n` +
      `  processor time p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}\n` +
      `  by the clock × ${percentile(clockRatios, 0.5).toFixed(2)} in the median of the pairs, with what else the machine did; in all ${beside.since(alone)}\n` +
      `  neighbour lost ${beside.failed} of ${beside.answers.length}; ${calls === 0 ? "" : `${ms(spentMs / calls)} of processor time for each of the attacker's calls: `}${[...statuses].map(([status, n]) => `${n} × ${status}`).join(", ")}\n`,
  );
}
await Promise.all(services.map((service) => service.stop()));
await sandbox.close();
