import { expect, test } from "vitest";
import { bestOf } from "../../../../test/support/best-market.ts";
import { readSampleMarkets, type SampleMarket } from "../../../../test/support/sample-markets.ts";
import type { HotMarket } from "../../../market/port.ts";
import { VersionedMarkets } from "../../../market/watch/versioned-markets.ts";
import { Address, compareAddresses } from "../../../primitives/address.ts";
import { readU64, writeU64 } from "../../../primitives/bytes.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { Account } from "../../../solana/account.ts";
import { SOL_MINT } from "../../../solana/programs.ts";
import { spotBoundOf, wholeLine } from "../../../venues/spot-bound.ts";
import type { Ask } from "../../../venues/venue.ts";
import { rankMarkets } from "../ranking.ts";
import { bestPairRate } from "./best-rate.ts";
import { pairSpotsOf } from "./pair-spots.ts";
import { smallRatesOf } from "./small-rates.ts";

const random = createRandom(1_765);
const { mint, clock, markets: samples } = readSampleMarkets();
const lower = compareAddresses(mint, SOL_MINT) < 0 ? mint : SOL_MINT;
const MARKETS = 40;
const TRADES = 150;
/** Where a token account has its amount. */
const AMOUNT = 64;

/** A market of a sample's venue whose vaults hold a little more or less: its price, and that of no other, is another. */
function drawnMarket(of?: SampleMarket): HotMarket {
  for (;;) {
    const sample = of ?? random.pick(samples);
    const { venue, hot, accounts } = sample;
    const moved = random.chance(0.8) ? movedVaults(sample) : new Map<Address, Account>();
    const have = { get: (address: Address) => moved.get(address) ?? accounts.get(address) };
    try {
      const state = venue.read(hot.market, have);
      const spot = random.chance(0.98) ? spotBoundOf(venue, state, have) : undefined;
      return { ...hot, state, spot, isTimeless: venue.isTimeless?.(state) === true };
    } catch {
      // What it holds makes no market.
    }
  }
}

function movedVaults({ accounts, addresses }: SampleMarket): ReadonlyMap<Address, Account> {
  const moved = new Map<Address, Account>();
  for (const address of addresses) {
    const account = accounts.get(address);
    if (account?.data.length !== 165) continue;
    const data = account.data.slice();
    writeU64(data, AMOUNT, (readU64(data, AMOUNT) * random.between(995_000n, 1_005_000n)) / 1_000_000n);
    moved.set(address, { ...account, data });
  }
  return moved;
}

const drawnAddress = () => Address.from(random.bytes(32));

/** What the markets' own bounds give at most for a unit of a small input. */
function ratesOf(markets: readonly HotMarket[], inMint: Address): number[] {
  return markets.map(({ market, spot }) => {
    const line = market.mints[0] === inMint ? spot?.from0 : spot?.from1;
    return line === undefined ? Number.POSITIVE_INFINITY : line.rate * line.kept;
  });
}

test(`by spot bounds the best market and rate are those of quoting all, over ${TRADES} trades with changes between them`, () => {
  const line = {};
  const places = Array.from({ length: MARKETS }, () => random.pick(samples));
  let all = VersionedMarkets.of(places.map(drawnMarket));
  let at = clock;
  let quoted = 0;
  for (let trade = 0; trade < TRADES; trade++) {
    at = { ...at, slot: at.slot + random.pick([0n, 0n, 1n, 40n]) };
    const changes = random.pick([0, 0, 1, 1, 3, MARKETS]);
    const earlier = all;
    if (changes > 0) {
      all = all.copy();
      for (let change = 0; change < changes; change++) {
        const place = random.u32() % MARKETS;
        const hot = drawnMarket(places[place]);
        const isLowerFirst = hot.market.mints[0] === lower;
        if (hot.spot !== undefined && random.chance(0.7)) all.putBound(place, hot, hot.spot, isLowerFirst);
        else all.put(place, hot);
      }
    }
    const [inMint, outMint] = random.chance(0.5) ? [SOL_MINT, mint] : [mint, SOL_MINT];
    const mode = random.chance(0.6) ? "exactIn" : "exactOut";
    const ask: Ask = { mode, inMint, outMint, amount: random.magnitude(10n ** 12n) + 1n, clock: at };
    // A trade that began before the change goes on with what it had.
    const { markets, versions, bounds } = random.chance(0.8) ? all : earlier;
    const pair = { markets, faults: [], searched: [], line, ...(random.chance(0.9) ? { versions, bounds } : {}) };
    const { candidates } = rankMarkets(pair, ask, false, random.pick([1, 4]));
    quoted += candidates.length;
    const best = bestOf(markets, ask);
    const told = `trade ${trade}: ${mode} of ${ask.amount}`;
    const spots = pairSpotsOf(pair, ask);
    if (spots !== undefined)
      expect(
        markets.map((_, place) => spots.rateAt(place)),
        told,
      ).toEqual(ratesOf(markets, inMint));
    expect(candidates[0]?.quote.outAmount, told).toBe(best?.quote.outAmount);
    expect(candidates[0]?.quote.inAmount, told).toBe(best?.quote.inAmount);
    expect(candidates[0]?.hot.market.address, told).toBe(best?.hot.market.address);
    const size = { mode, inMint, outMint, roundSize: 2 ** (16 + (random.u32() % 16)), clock: at } as const;
    expect(bestPairRate(pair, size), told).toBe(smallRatesOf({ ...pair, line: {} }, size).best);
  }
  // Samples of one venue lie close to one another, most of all for dust.
  expect(quoted / TRADES).toBeLessThan(MARKETS / 2);
});

test("a bound that is no number hides no other market", () => {
  for (let trade = 0; trade < 12; trade++) {
    const drawn = Array.from({ length: 8 }, () => drawnMarket());
    const line = wholeLine(Number.NaN, Number.NaN);
    const none = { from0: line, from1: line, rounding: 0 };
    const markets = drawn.map((hot, place): HotMarket => (place === trade % 4 ? { ...hot, spot: none } : hot));
    const ask: Ask = { mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount: 10_000_000n, clock };
    const { candidates } = rankMarkets({ markets, faults: [], searched: [], line: {} }, ask, false, 1);
    expect(candidates[0]?.quote.outAmount, `trade ${trade}`).toBe(bestOf(markets, ask)?.quote.outAmount);
  }
});

test("a ranking ends at the first of many markets that promise what the best one gives, unless another of these may come first", () => {
  const [first] = samples;
  const hot = drawnMarket(first);
  const takingLess = samples.find(({ venue }) => venue.spot?.takesLess === true)!;
  const promising = (rate: number, of: HotMarket = hot): HotMarket => {
    const line = wholeLine(rate, 0);
    return {
      ...of,
      market: { ...of.market, address: drawnAddress() },
      spot: { from0: line, from1: line, rounding: 0 },
    };
  };
  const ask: Ask = { mode: "exactIn", inMint: SOL_MINT, outMint: mint, amount: 1_000n, clock };
  const ends = (...others: readonly HotMarket[]): boolean => {
    const markets = [...Array.from({ length: 8 }, () => promising(1.0005)), ...others];
    const spots = pairSpotsOf({ markets, faults: [], searched: [], line: {} }, ask)!.bound(ask);
    const leader = { hot: markets[spots.pick(0)]!, value: 1_000n };
    return spots.endsAt(spots.pick(1), ask, leader);
  };
  expect(ends()).toBe(true);
  expect(ends(promising(0.999))).toBe(true);
  // Promises are whole units.
  expect(ends(promising(1.0002))).toBe(true);
  expect(ends(promising(1.0005, { ...takingLess.hot, venue: { ...takingLess.hot.venue, id: "zzz" } }))).toBe(false);
});
