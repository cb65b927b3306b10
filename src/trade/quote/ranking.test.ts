import { describe, expect, test } from "vitest";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { HotMarket, PairMarkets } from "../../market/port.ts";
import { Address } from "../../primitives/address.ts";
import { ceilDiv } from "../../primitives/integer.ts";
import { createRandom, type Random } from "../../primitives/random.ts";
import type { Ask, Quote, SwapMode, Venue } from "../../venues/venue.ts";
import { compareCandidates, rankMarkets } from "./ranking.ts";

const random = createRandom(11);
const address = () => Address.from(random.bytes(32));
const [A, B] = [address(), address()];
const clock = { slot: 100n, epoch: 1n, unixTimestamp: 1n };

interface Pool {
  readonly a: bigint;
  readonly b: bigint;
}

/** A constant-product venue that counts its quotes. */
function countingVenue() {
  let asked = 0;
  const venue = {
    id: "raydium_cpmm",
    quote(state: unknown, ask: Ask): Quote {
      asked++;
      const pool = state as Pool;
      const [reserveIn, reserveOut] = ask.inMint === A ? [pool.a, pool.b] : [pool.b, pool.a];
      if (ask.mode === "exactOut" && ask.amount >= reserveOut)
        throw new TradewireError("INSUFFICIENT_LIQUIDITY", "too small");
      const inAmount = ask.mode === "exactIn" ? ask.amount : ceilDiv(reserveIn * ask.amount, reserveOut - ask.amount);
      const outAmount = ask.mode === "exactIn" ? (reserveOut * ask.amount) / (reserveIn + ask.amount) : ask.amount;
      if (outAmount === 0n) throw new TradewireError("VALIDATION_ERROR", "rounds to nothing");
      return { ...ask, inAmount, outAmount, priceImpact: 0, fill: undefined };
    },
  } as unknown as Venue;
  return { venue, asked: () => asked };
}

function marketsOf(venue: Venue, pools: readonly Pool[]): PairMarkets {
  const markets = pools.map(
    (state): HotMarket => ({
      venue,
      market: { venue: "raydium_cpmm", address: address(), mints: [A, B], nativeSol: false },
      state,
      slot: 1n,
    }),
  );
  return { markets, faults: [], searched: [] };
}

/** A few living pools around one price, and many dead ones at any price. */
function deadAndAlive(source: Random, count: number): Pool[] {
  return Array.from({ length: count }, (_, index) =>
    index % 40 === 0
      ? { a: source.between(10n ** 12n, 10n ** 13n), b: source.between(10n ** 12n, 10n ** 13n) }
      : { a: source.magnitude(10n ** 7n), b: source.magnitude(10n ** 7n) },
  );
}

describe("ranking", () => {
  test("finds the same best market as pricing every one, in both modes and directions", () => {
    const { venue } = countingVenue();
    for (let round = 0; round < 60; round++) {
      const pair = marketsOf(venue, deadAndAlive(random, 5 + (random.u32() % 200)));
      for (const mode of ["exactIn", "exactOut"] as SwapMode[]) {
        const forwards = random.chance(0.5);
        const ask: Ask = {
          mode,
          inMint: forwards ? A : B,
          outMint: forwards ? B : A,
          amount: random.magnitude(10n ** 11n),
          clock,
        };
        const all = pair.markets.flatMap((hot) => {
          try {
            return [{ hot, quote: venue.quote(hot.state, ask) }];
          } catch {
            return [];
          }
        });
        const best = all.sort(compareCandidates)[0];
        expect(rankMarkets(pair, ask, round % 2 === 0).candidates[0]?.quote).toEqual(best?.quote);
      }
    }
  });

  test("prices a handful of thousands of dead markets when warm", () => {
    const { venue, asked } = countingVenue();
    const pair = marketsOf(
      venue,
      deadAndAlive(random, 4_000)
        .map((pool, index) => (index < 3_990 && index % 40 === 0 ? { a: 5n, b: 5n } : pool))
        .concat({ a: 10n ** 13n, b: 10n ** 13n }),
    );
    const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: 10n ** 9n, clock };
    rankMarkets(pair, ask, false);
    const before = asked();
    rankMarkets(pair, { ...ask, amount: ask.amount + 12_345n }, false);
    expect(asked() - before).toBeLessThanOrEqual(6);
  });

  test("prices next to nothing beside the best of many living markets, if only that counts", () => {
    const { venue, asked } = countingVenue();
    const pools = Array.from({ length: 200 }, (_, index) => ({
      a: 10n ** 13n,
      b: 10n ** 13n + BigInt(index) * 10n ** 8n,
    }));
    const pair = marketsOf(venue, pools);
    const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: 10n ** 9n, clock };
    rankMarkets(pair, ask, false, 1);
    const before = asked();
    const { candidates } = rankMarkets(pair, { ...ask, amount: ask.amount + 12_345n }, false, 1);
    expect(candidates[0]!.hot.state).toBe(pools[199]);
    // Bounds lie up to four times the amount apart: markets within that price impact of one another are priced.
    expect(asked() - before).toBeLessThanOrEqual(40);
    // One market changes: the bounds of the others stand.
    const changed = { ...pair, markets: pair.markets.map((hot, index) => (index === 7 ? { ...hot } : hot)) };
    const beforeChange = asked();
    rankMarkets(changed, ask, false, 1);
    expect(asked() - beforeChange).toBeLessThanOrEqual(44);
  });

  test("prices each market about once after all of them have changed, and once more if they outlive the moment", () => {
    const { venue, asked } = countingVenue();
    const line = {};
    const pools = Array.from({ length: 64 }, (_, index) => ({
      a: 10n ** 13n,
      b: 10n ** 13n + BigInt(index) * 10n ** 11n,
    }));
    const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: 10n ** 9n, clock };
    for (let round = 0; round < 3; round++) {
      const asking = (pair: PairMarkets, slots: bigint) => {
        const before = asked();
        const moved = { ...ask, clock: { ...clock, slot: clock.slot + slots } };
        expect(rankMarkets(pair, moved, false, 1).candidates[0]!.hot.state).toBe(pools[63]);
        return asked() - before;
      };
      const pair = { ...marketsOf(venue, pools), line };
      // A small part of the trade; the trade on the best market.
      expect(asking(pair, 0n)).toBeLessThanOrEqual(64 + 2);
      if (round === 0) continue;
      // The same part at the end of the bounds' life.
      expect(asking(pair, 1n)).toBeLessThanOrEqual(64 + 2);
      expect(asking(pair, 2n)).toBeLessThanOrEqual(4);
    }
  });

  test.each([1, 4])("finds a market that opens later as soon as it does, with %s beside the best", (least) => {
    const { venue } = countingVenue();
    const opensAt = clock.slot + 10n;
    const later = {
      id: "meteora_dbc",
      quote(state: unknown, ask: Ask): Quote {
        if (ask.clock.slot < opensAt) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "not open yet");
        return venue.quote(state, ask);
      },
    } as unknown as Venue;
    const pair = marketsOf(venue, new Array(6).fill({ a: 10n ** 13n, b: 8n * 10n ** 12n }));
    const [opening] = marketsOf(later, [{ a: 10n ** 13n, b: 10n ** 13n }]).markets;
    const all = { ...pair, markets: [...pair.markets, opening!] };
    for (let slot = clock.slot; slot < clock.slot + 40n; slot++) {
      const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: 10n ** 9n, clock: { ...clock, slot } };
      const { hot } = rankMarkets(all, ask, false, least).candidates[0]!;
      expect(hot === opening, `slot ${slot}`).toBe(slot >= opensAt);
    }
  });

  test("finds the best of markets that differ in depth alone, whatever the size", () => {
    const { venue } = countingVenue();
    // The deeper a market, the worse its price for little.
    const pools = Array.from({ length: 30 }, (_, index) => {
      const a = 10n ** 9n * 2n ** BigInt(index);
      return { a, b: (a * BigInt(1_000 - index)) / 1_000n };
    });
    const pair = marketsOf(venue, pools);
    for (let round = 0; round < 400; round++) {
      const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: random.magnitude(10n ** 12n), clock };
      const { candidates } = rankMarkets({ ...pair }, ask, false, pools.length);
      const expected = candidates[0]?.quote.outAmount;
      expect(rankMarkets(pair, ask, false, 1).candidates[0]?.quote.outAmount, `${ask.amount}`).toBe(expected);
    }
  });

  test("recomputes bounds that have expired: fees may change with time alone", () => {
    const { venue, asked } = countingVenue();
    const pair = marketsOf(venue, deadAndAlive(random, 50));
    const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: 10n ** 6n, clock };
    rankMarkets(pair, ask, false);
    const before = asked();
    rankMarkets(pair, { ...ask, clock: { ...clock, slot: clock.slot + 26n } }, false);
    expect(asked() - before).toBeGreaterThan(50);
  });

  test.each([
    ["anew", undefined],
    ["from the last ones", {}],
  ])("finds a market whose fee falls with time as soon as it is the best, with bounds made %s", (_, line) => {
    const { venue } = countingVenue();
    // Half of what comes out, of which one percent less with each slot.
    const falling = {
      id: "meteora_dbc",
      quote(state: unknown, ask: Ask): Quote {
        const plain = venue.quote(state, ask);
        const kept = 50n + (ask.clock.slot - clock.slot);
        return { ...plain, outAmount: (plain.outAmount * (kept < 100n ? kept : 100n)) / 100n };
      },
    } as unknown as Venue;
    const pair = marketsOf(venue, new Array(6).fill({ a: 10n ** 13n, b: 8n * 10n ** 12n }));
    const timed = marketsOf(falling, [{ a: 10n ** 13n, b: 10n ** 13n }]).markets;
    const markets = [...pair.markets, ...timed];
    const stateOf = (): PairMarkets => ({ ...pair, markets: [...markets], ...(line === undefined ? {} : { line }) });
    let now = stateOf();
    for (let slot = clock.slot; slot < clock.slot + 60n; slot++) {
      // Every few slots one of the others changes, so that the pair is another.
      if (slot % 24n === 0n) {
        markets[0] = { ...markets[0]! };
        now = stateOf();
      }
      const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount: 10n ** 9n, clock: { ...clock, slot } };
      const best = markets.map((hot) => hot.venue.quote(hot.state, ask).outAmount).sort((a, b) => (a > b ? -1 : 1))[0];
      expect(rankMarkets(now, ask, false, 1).candidates[0]!.quote.outAmount, `slot ${slot}`).toBe(best);
    }
  });

  test("finds the best of many after any changes of them, with bounds made from the last ones", () => {
    const { venue } = countingVenue();
    const line = {};
    let { markets } = marketsOf(venue, deadAndAlive(random, 60));
    const rest = marketsOf(venue, []);
    for (let round = 0; round < 300; round++) {
      const kind = random.u32() % 8;
      if (kind === 0) markets = markets.slice(1);
      else if (kind === 1) markets = [...markets, ...marketsOf(venue, deadAndAlive(random, 2)).markets];
      else if (kind === 2) markets = [...markets].reverse();
      else {
        const place = random.u32() % markets.length;
        const moved = marketsOf(venue, deadAndAlive(random, 2)).markets[random.u32() % 2]!;
        markets = markets.map((hot, index) => (index === place ? moved : hot));
      }
      const slot = clock.slot + BigInt(round * 3);
      const amount = round % 2 === 0 ? 10n ** 7n + BigInt(random.u32() % 1_000) : 10n ** 9n;
      const ask: Ask = { mode: "exactIn", inMint: A, outMint: B, amount, clock: { ...clock, slot } };
      const { candidates } = rankMarkets({ ...rest, markets, line }, ask, false, 1);
      const { candidates: all } = rankMarkets({ ...rest, markets }, ask, false, markets.length);
      expect(candidates[0]?.quote.outAmount, `round ${round}`).toBe(all[0]?.quote.outAmount);
    }
  });

  test("keeps the bounds of both directions apart, in whatever order markets name their mints", () => {
    const { venue } = countingVenue();
    const line = {};
    // One B is worth a thousandth of an A: what holds in one direction says nothing about the other.
    const price = 1_000n;
    const pools = Array.from({ length: 6 }, (_, index) => ({
      a: 10n ** 12n,
      b: (10n ** 12n + BigInt(index) * 10n ** 11n) * price,
    }));
    const { markets, ...rest } = marketsOf(venue, pools);
    const asks = [
      { inMint: A, outMint: B },
      { inMint: B, outMint: A },
    ].map((mints): Ask => ({ mode: "exactIn", ...mints, amount: 10n ** 7n, clock }));
    for (const ask of asks) rankMarkets({ ...rest, markets, line }, ask, false, 1);
    // The first market is replaced by one of a venue that sorts mints otherwise.
    const { market } = markets[0]!;
    const reversed: HotMarket = { ...markets[0]!, market: { ...market, address: address(), mints: [B, A] } };
    const changed = [reversed, ...markets.slice(1)];
    for (const ask of asks) {
      const { candidates } = rankMarkets({ ...rest, markets: changed, line }, ask, false, 1);
      const outputs = changed.map((hot) => Number(venue.quote(hot.state, ask).outAmount));
      expect(Number(candidates[0]!.quote.outAmount), `of ${ask.inMint === A ? "A" : "B"}`).toBe(Math.max(...outputs));
    }
  });

  test("offers the other markets if the state of one breaks the formulas, at whatever size", () => {
    const { venue } = countingVenue();
    const broken = {
      id: "meteora_dbc",
      quote: (): Quote => {
        throw new RangeError("Division by zero");
      },
    } as unknown as Venue;
    for (const count of [1, 2, 40]) {
      const pair = marketsOf(venue, new Array(count).fill({ a: 10n ** 12n, b: 10n ** 12n }));
      const hostile = marketsOf(broken, [{ a: 1n, b: 1n }]);
      for (const mode of ["exactIn", "exactOut"] as const) {
        const ask: Ask = { mode, inMint: A, outMint: B, amount: 10n ** 9n, clock };
        const all = { ...pair, markets: [...hostile.markets, ...pair.markets] };
        expect(rankMarkets(all, ask, false).candidates.length, `${count} ${mode}`).toBeGreaterThanOrEqual(1);
        expect(rankMarkets(hostile, ask, false)).toMatchObject({
          candidates: [],
          faults: [{ venue: "meteora_dbc", reason: "cannot be priced" }],
        });
      }
    }
  });

  test("reports every refusal with its market", () => {
    const { venue } = countingVenue();
    const pair = marketsOf(venue, [{ a: 10n, b: 10n }]);
    const ranking = rankMarkets(pair, { mode: "exactOut", inMint: A, outMint: B, amount: 11n, clock }, false);
    expect(ranking.candidates).toEqual([]);
    expect(ranking.faults).toEqual([
      { venue: "raydium_cpmm", market: pair.markets[0]!.market.address.toString(), reason: "too small" },
    ]);
  });
});
