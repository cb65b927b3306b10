import { expect, test } from "vitest";
import type { HotMarket } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import type { Route } from "../route.ts";
import { realizePlan } from "./realize.ts";

const [A, HUB, B] = [1, 2, 3].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address, Address];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };

/** Trades one for one; its program checks one unit more than it may pay. */
const venue = {
  id: "rounding",
  quote: (_: unknown, { mode, inMint, outMint, amount }: Ask) =>
    ({ mode, inMint, outMint, inAmount: amount, outAmount: amount, priceImpact: 0 }) as Quote,
  leastArriving: (_quote: Quote, threshold: bigint) => threshold - 1n,
} as unknown as Venue;

const hotAt = (byte: number) =>
  ({
    venue,
    market: { address: Address.from(new Uint8Array(32).fill(byte)) },
    state: {},
    slot: 1n,
  }) as unknown as HotMarket;

function realized(mode: Intent["mode"], first = hotAt(8)): Route {
  const intent = { inMint: { address: A }, outMint: { address: B }, mode, amount: 1_000n, slippagePpb: 0n } as Intent;
  const plan = [
    { hot: first, inMint: A, outMint: HUB, weight: 1 },
    { hot: hotAt(9), inMint: HUB, outMint: B, weight: 1 },
  ];
  return realizePlan(intent, plan, CLOCK) as Route;
}

test("a market takes no more than surely arrives of one that rounds after its check", () => {
  const [, sold] = realized("exactIn").steps;
  expect(sold!.quote.inAmount).toBe(999n);
  const [bought, last] = realized("exactOut").steps;
  expect([bought!.quote.outAmount, last!.quote.inAmount]).toEqual([1_001n, 1_000n]);
});

test("no market takes what a purchase that may be cut down does not guarantee", () => {
  const cutting = { ...venue, leastArriving: () => 0n } as unknown as Venue;
  const first = { ...hotAt(8), venue: cutting };
  expect(realized("exactOut", first)).toBe(first);
});

/** Trades one for one; of an even amount it leaves a unit, as a purchase with a budget does that buys whole units. */
const leaving = {
  id: "leaving",
  quote: (_: unknown, { mode, inMint, outMint, amount }: Ask) => {
    const taken = amount % 2n === 0n ? amount - 1n : amount;
    return { mode, inMint, outMint, inAmount: taken, outAmount: taken, priceImpact: 0 } as Quote;
  },
} as unknown as Venue;

const sellOver = (plan: readonly (readonly [Venue, Address, Address, number])[]) => {
  const intent = {
    inMint: { address: A },
    outMint: { address: B },
    mode: "exactIn",
    amount: 999n,
    slippagePpb: 0n,
  } as Intent;
  const steps = plan.map(([of, inMint, outMint, weight], index) => ({
    hot: { ...hotAt(20 + index), venue: of },
    inMint,
    outMint,
    weight,
  }));
  return realizePlan(intent, steps, CLOCK) as Route;
};

test("what an entry leaves of its part goes to another one, and the sum is the amount asked", () => {
  const route = sellOver([
    [{ ...venue, leastArriving: undefined } as unknown as Venue, A, B, 1],
    [leaving, A, B, 1],
  ]);
  expect(route.steps.map(({ quote }) => quote.inAmount)).toEqual([500n, 499n]);
  expect(route.inAmount).toBe(999n);
});

test("what a market behind a hub leaves of its part by rounding stays as a remainder", () => {
  const route = sellOver([
    [venue, A, HUB, 1],
    [leaving, HUB, B, 1],
  ]);
  expect(route.steps[1]!.quote.inAmount).toBe(997n);
  expect(route.remainders).toEqual([{ mint: HUB, amount: 2n }]);
});
