import { expect, test } from "vitest";
import { memoryPorts } from "../../../../test/support/memory-ports.ts";
import { readSampleMarkets } from "../../../../test/support/sample-markets.ts";
import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import { allAtOnce } from "../../quote/long-searches.ts";
import type { TradeRequest } from "../../trade.ts";
import type { BuildPorts } from "../build-trade.ts";
import { draftTrade, type TradeDraft } from "../draft-trade.ts";
import { recallTrade } from "../load-trade.ts";
import { draftSingleMarket } from "./single-market.ts";

const random = createRandom(93);
const { mint, clock, markets: samples } = readSampleMarkets();
const wallet = Address.from(random.bytes(32));
const seed = "-".repeat(11);
const NONCE = 77;
const NONE: PairMarkets = { markets: [], faults: [], searched: [] };

const base = memoryPorts({ mint, clock, wallet, markets: [] });

function portsOf(markets: readonly HotMarket[]): BuildPorts {
  const direct: PairMarkets = { markets, faults: [], searched: [] };
  return {
    ...base,
    nextSeed: () => seed,
    markets: { ...base.markets, marketsOf: () => direct, knownMarkets: () => NONE, hubMints: [] },
  };
}

function requestOf(isBuy: boolean, mode: "exactIn" | "exactOut", more: Partial<TradeRequest> = {}): TradeRequest {
  return {
    principal: { accountId: "account", keyId: "key", wallet },
    inMint: isBuy ? SOL_MINT : mint,
    outMint: isBuy ? mint : SOL_MINT,
    mode,
    amount: 0,
    amountRaw: random.between(1n, 10n ** BigInt(1 + (random.u32() % 16))).toString(),
    slippage: random.pick([0, 0.01, 0.5]),
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
    ...more,
  };
}

/** The draft in both ways; undefined if there is none. */
function drafts(ports: BuildPorts, request: TradeRequest): readonly [string | undefined, string | undefined] {
  const loaded = recallTrade(ports, request)!;
  const lifetime = ports.head.lifetime();
  const single = draftSingleMarket(ports, loaded, lifetime, NONCE);
  const short = single?.composed.fits === true ? single : undefined;
  try {
    return [shown(short), shown(allAtOnce(draftTrade(ports, loaded, lifetime, NONCE, true)))];
  } catch {
    return [shown(short), undefined];
  }
}

/** All of a draft but the states of markets. */
function shown(draft: TradeDraft | undefined): string | undefined {
  if (draft === undefined) return undefined;
  const { composed, senders, fitLoss } = draft;
  const { message, route, assembly, costs, fits, transactionBytes } = composed;
  const steps = route.steps.map(({ hot, quote, threshold }) => [hot.market.address, quote, threshold]);
  const { instructions: _, ...rest } = assembly;
  const whole = [Buffer.from(message).toString("hex"), { ...route, steps }, rest, costs, fits, transactionBytes];
  return JSON.stringify([...whole, senders, fitLoss], (_key, value) =>
    typeof value === "bigint" ? `${value}` : value,
  );
}

test("a trade on the only market is the one that the search finds, to the byte, on every venue", () => {
  const made = new Set<string>();
  for (const { venue, hot } of samples) {
    for (let round = 0; round < 24; round++) {
      const [short, long] = drafts(portsOf([hot]), requestOf(round % 2 === 0, random.pick(["exactIn", "exactOut"])));
      expect(short).toBe(long);
      if (short !== undefined) made.add(venue.id);
    }
  }
  expect([...made].sort()).toEqual([...new Set(samples.map(({ venue }) => venue.id))].sort());
});

test("a trade that one of several markets makes best is the one that the search finds, to the byte", () => {
  let [short, divided] = [0, 0];
  for (let round = 0; round < 400; round++) {
    const drawn = Array.from({ length: 2 + (random.u32() % 9) }, () => random.pick(samples).hot);
    const ports = portsOf([...new Set(drawn)]);
    const request = requestOf(round % 2 === 0, random.pick(["exactIn", "exactOut"]), {
      ...(random.chance(0.2) ? { maxPaths: 1 } : {}),
    });
    const [alone, searched] = drafts(ports, request);
    if (alone !== undefined) {
      expect(alone, `round ${round}`).toBe(searched);
      short++;
    } else if (searched !== undefined) divided++;
  }
  expect(short).toBeGreaterThan(60);
  expect(divided).toBeGreaterThan(20);
});

test("any other trade is left to the search", () => {
  const [first] = samples.map(({ hot }) => hot) as [HotMarket];
  const request = requestOf(true, "exactIn", { amountRaw: "1000000" });
  const shortOf = (hots: readonly HotMarket[], more: Partial<TradeRequest>) =>
    drafts(portsOf(hots), { ...request, ...more })[0];
  expect(shortOf([first], {})).toBeDefined();
  expect(shortOf([], {})).toBeUndefined();
  // Two like one another share a trade.
  const twin = { ...first, market: { ...first.market, address: Address.from(random.bytes(32)) } };
  expect(shortOf([first, twin], { amountRaw: "1000000000" })).toBeUndefined();
  expect(shortOf([first], { requireChecked: true })).toBeUndefined();
  expect(shortOf([first], { excludeVenues: [first.venue.id] })).toBeUndefined();
});

test("code of a venue that fails is reported once the search meets it", () => {
  const errors: unknown[] = [];
  const { hot } = samples[0]!;
  const quote = () => {
    throw new TypeError("a fault");
  };
  const broken: HotMarket = { ...hot, venue: { ...hot.venue, quote }, failed: (error) => errors.push(error) };
  expect(drafts(portsOf([broken]), requestOf(true, "exactIn"))).toEqual([undefined, undefined]);
  expect(errors).toHaveLength(1);
});
