import type { HotMarket, PairMarkets } from "../../src/market/port.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { type BuildPorts, buildTrade } from "../../src/trade/build/build-trade.ts";
import type { TradeRequest } from "../../src/trade/trade.ts";
import type { Ask, MintPair } from "../../src/venues/venue.ts";
import { memoryPorts } from "../support/memory-ports.ts";
import { readSampleMarkets, type SampleMarket } from "../support/sample-markets.ts";
import { Svm } from "../support/svm.ts";
import { medianMicros, micros } from "./measure.ts";

/** One line of the table: figure, measured, ratio to the reference, promise. */
export type BenchRow = [string, string, string, string];

const { mint, clock, markets } = readSampleMarkets();
const wallet = new Svm().newWallet();
/** A hundredth of the largest samples' depth. */
const AMOUNT = 100_000_000_000n;
/** Of a trade that is worth dividing, and markets of its mint with the promised ratio. */
const SPLIT_AMOUNT = 1_000_000_000_000n;
const SPLIT_MARKETS = [
  [12, "≤ 120"],
  [40, "≤ 300"],
] as const;
/** Markets of one mint at once. */
const MANY = 200;

/** Prices of every venue's sample market, and whole builds on it, in microseconds and as ratios to `reference`. */
export function benchVenues(reference: number): BenchRow[] {
  const samples = markets.filter(({ name }) => name.endsWith(" 0"));
  return [
    ...samples.flatMap((sample) => [quoteRow(sample, reference), buildRow(sample, reference)]),
    ...deepQuoteRows(samples, reference),
    ...manyMarketsRows(samples),
    ...splitRows(reference),
  ];
}

const askFor = (amount: bigint): Ask => ({ mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount, clock });

function quoteRow({ venue, hot }: SampleMarket, reference: number): BenchRow {
  const ask = askFor(AMOUNT);
  const time = medianMicros(() => venue.quote(hot.state, ask), 4_000);
  return [`quote, ${venue.id}`, micros(time), (time / reference).toFixed(2), "≤ 40"];
}

function buildRow({ venue, hot }: SampleMarket, reference: number): BenchRow {
  const time = buildTime([hot]);
  return [`warm build, ${venue.id}`, micros(time), (time / reference).toFixed(1), "≤ 40"];
}

/** The largest quote the sample answers in one direction: through all its bins or tick arrays, if it has them. */
function deepQuoteRows(samples: readonly SampleMarket[], reference: number): BenchRow[] {
  return samples.map(({ venue, hot }) => {
    let deepest = askFor(1n);
    for (let bit = 1n << 46n; bit > 0n; bit >>= 1n) {
      const trial = askFor(deepest.amount + bit);
      try {
        venue.quote(hot.state, trial);
        deepest = trial;
      } catch {
        // Deeper than the sample goes.
      }
    }
    const time = medianMicros(() => venue.quote(hot.state, deepest), 4_000);
    const moved = (venue.quote(hot.state, deepest).priceImpact * 100).toFixed(0);
    const through = `to the end of what is known (${moved} % of price impact)`;
    return [`quote, ${venue.id}, ${through}`, micros(time), (time / reference).toFixed(2), "≤ 40"];
  });
}

/** The same build with one market of the mint in memory and with hundreds: over one path, and divided if that gives more. */
function manyMarketsRows(samples: readonly SampleMarket[]): BenchRow[] {
  const all = Array.from({ length: MANY }, (_, index) => markets[index % markets.length]!.hot).map((hot) => ({
    ...hot,
  }));
  // Beside the build on the market they end at, which is the fair comparison.
  const chosen = buildOnce(portsOf(all), { maxPaths: 1 }).route[0]!.market;
  const one = buildTime(all.filter(({ market }) => market.address === chosen).slice(0, 1));
  const row = (what: string, bounds: Partial<TradeRequest>, promise: string): BenchRow => {
    const time = buildTime(all, bounds);
    const ratio = `${(time / one).toFixed(2)} × one market`;
    return [
      `warm build, ${samples.length} venues and ${all.length} markets of one mint, ${what}`,
      micros(time),
      ratio,
      promise,
    ];
  };
  return [row("single path", { maxPaths: 1 }, "≤ 2 × one market"), row("divided", {}, "")];
}

/** Builds with and without dividing, on unchanged markets and with one changed before each build. */
function splitRows(reference: number): BenchRow[] {
  const deep = markets.filter(
    ({ name, venue }) => venue.id !== "meteora_damm_v1" && Number(name.split(" ").at(-1)) < 6,
  );
  return SPLIT_MARKETS.flatMap(([count, promise]) => {
    const hot = Array.from({ length: count }, (_, index) => ({ ...deep[index % deep.length]!.hot }));
    const ports = portsOf(hot);
    // Version 1: four swaps fit.
    const still = { ...ports, settings: { ...ports.settings, transactionV1: true } };
    const row = (name: string, next: () => BuildPorts, bounds: Partial<TradeRequest>): BenchRow => {
      let made = 0n;
      let built = buildOnce(next(), bounds);
      const time = medianMicros(() => {
        // No two builds of the same amount in a row.
        const amountRaw = (SPLIT_AMOUNT + (made++ % 64n) * (SPLIT_AMOUNT / 256n)).toString();
        built = buildOnce(next(), { ...bounds, amountRaw, amount: Number.NaN, maxTransactionVersion: 1 });
      }, 3_000);
      const paths = new Set(built.route.map(({ path }) => path ?? 0)).size;
      const what = `warm build, ${count} markets of a mint, ${name} (${paths} paths)`;
      return [what, micros(time), (time / reference).toFixed(1), promise];
    };
    let turn = 0;
    let states: readonly HotMarket[] = hot;
    const line = {};
    const moving = () => {
      const place = turn++ % count;
      states = states.map((one, index) => (index === place ? { ...one } : one));
      return withMarkets(still, states, line);
    };
    return [
      row("single path", () => still, { maxPaths: 1 }),
      row("divided", () => still, {}),
      row("divided, one of them changed", moving, {}),
    ];
  });
}

function portsOf(hot: readonly HotMarket[]): BuildPorts {
  return memoryPorts({ mint, clock, wallet, markets: hot });
}

/** The same ports with other markets, states of one pair as the watch of a pair gives them. */
function withMarkets(ports: BuildPorts, hot: readonly HotMarket[], line: object): BuildPorts {
  const pairOf = (pair: MintPair): PairMarkets => {
    const known = ports.markets.marketsOf(pair) as PairMarkets;
    return known.markets.length === 0 ? known : { ...known, markets: hot, line };
  };
  return { ...ports, markets: { ...ports.markets, marketsOf: pairOf, knownMarkets: pairOf } };
}

function buildTime(hot: readonly HotMarket[], bounds: Partial<TradeRequest> = {}): number {
  const ports = portsOf(hot);
  return medianMicros(() => buildOnce(ports, bounds), 3_000);
}

function buildOnce(ports: BuildPorts, asked: Partial<TradeRequest> = {}) {
  const built = buildTrade(ports, { ...REQUEST, ...asked });
  if (built instanceof Promise) throw new Error("a warm build waited");
  return built;
}

const REQUEST: TradeRequest = {
  principal: { accountId: "bench", keyId: "bench", wallet },
  inMint: SOL_MINT,
  outMint: mint,
  mode: "exactIn",
  amount: Number(AMOUNT) / 1e9,
  slippage: 0.01,
  priority: "fast",
  maxPriceImpact: undefined,
  maxPriorityCost: undefined,
};
