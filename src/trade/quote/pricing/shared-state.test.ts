import { expect, test } from "vitest";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import type { Candidate } from "../ranking.ts";
import { leastPassed, quoteAfter, settlePair } from "./shared-state.ts";

const random = createRandom(14);
const [A, HUB, B, POOL, OTHER] = Array.from({ length: 5 }, () => Address.from(random.bytes(32))) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };

/** A venue whose state is a toll on every trade, raised in the other market by one for every trade in one. */
const venue = {
  id: "tolls",
  quote: (toll: bigint, { mode, inMint, outMint, amount }: Ask) =>
    ({
      mode,
      inMint,
      outMint,
      inAmount: mode === "exactIn" ? amount : amount + toll,
      outAmount: mode === "exactIn" ? amount - toll : amount,
    }) as Quote,
  after: (_state: bigint, _quote: Quote, toll: bigint) => toll + 1n,
} as unknown as Venue;

function candidate(address: Address, inMint: Address, outMint: Address, mode: Ask["mode"], amount: bigint): Candidate {
  const hot = { venue, market: { address }, state: 5n, slot: 1n } as unknown as Candidate["hot"];
  return { hot, quote: venue.quote(5n, { mode, inMint, outMint, amount, clock: CLOCK }) };
}

test("the second market is quoted on the state that the first one's trade leaves", () => {
  const first = candidate(POOL, A, HUB, "exactIn", 100n);
  const second = candidate(OTHER, HUB, B, "exactIn", 95n);
  expect(second.quote.outAmount).toBe(90n);
  expect(quoteAfter(first, second, 95n, CLOCK)?.quote.outAmount).toBe(89n);
});

test("for an exact output, the first market buys what the second takes after it", () => {
  const second = candidate(OTHER, HUB, B, "exactOut", 100n);
  const first = candidate(POOL, A, HUB, "exactOut", 105n);
  const pair = settlePair(first, second, { share: 0n, passed: 105n, amount: 100n, clock: CLOCK })!;
  expect(pair.second.quote.inAmount).toBe(106n);
  expect(pair.first.quote.outAmount).toBe(106n);
  expect(pair.passed).toBe(106n);
});

/** A venue whose program checks one unit more than it may pay. */
const rounding = { ...venue, leastArriving: (_quote: Quote, threshold: bigint) => threshold - 1n } as Venue;

test("what a program may pay less than it checks is bought on top for the next market, or not taken by it", () => {
  const second = candidate(OTHER, HUB, B, "exactOut", 100n);
  const plain = candidate(POOL, A, HUB, "exactOut", 105n);
  const first = { ...plain, hot: { ...plain.hot, venue: rounding } };
  const tight = settlePair(first, second, { share: 0n, passed: 105n, amount: 100n, clock: CLOCK })!;
  expect([tight.first.quote.outAmount, tight.passed, tight.second.quote.inAmount]).toEqual([106n, 105n, 105n]);
  const bought = candidate(POOL, A, HUB, "exactOut", 110n);
  const wide = { ...bought, hot: first.hot };
  const loose = settlePair(wide, second, { share: 0n, passed: 110n, amount: 100n, clock: CLOCK })!;
  expect([loose.first.quote.outAmount, loose.passed]).toEqual([110n, 109n]);
  expect(leastPassed(rounding, bought.quote, 90n)).toBe(89n);
  expect(leastPassed(venue, bought.quote, 90n)).toBe(90n);
});

test("no market takes what a purchase that may be cut down does not guarantee", () => {
  const second = candidate(OTHER, HUB, B, "exactOut", 100n);
  const plain = candidate(POOL, A, HUB, "exactOut", 105n);
  const first = { ...plain, hot: { ...plain.hot, venue: { ...venue, leastArriving: () => 0n } as Venue } };
  expect(settlePair(first, second, { share: 0n, passed: 105n, amount: 100n, clock: CLOCK })).toBeUndefined();
});

test("a market is never both legs of a route", () => {
  const first = candidate(POOL, A, HUB, "exactIn", 100n);
  expect(quoteAfter(first, candidate(POOL, HUB, B, "exactIn", 95n), 95n, CLOCK)).toBeUndefined();
});
