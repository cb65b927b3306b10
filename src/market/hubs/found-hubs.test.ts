import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Address } from "../../primitives/address.ts";
import { SOL_MINT, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import type { MintPair } from "../../venues/venue.ts";
import type { PairMarkets } from "../port.ts";
import { FoundHubs } from "./found-hubs.ts";
import { Neighbours } from "./neighbours.ts";

const TOKEN = Address.from(new Uint8Array(32).fill(1));
const HUB = Address.from(new Uint8Array(32).fill(2));

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One market that gives a unit for a unit, as long as there are any. */
const DEEP = {
  ...{ faults: [], searched: [] },
  markets: [
    {
      venue: {
        quote: (_: unknown, { amount }: { readonly amount: bigint }) => {
          if (amount > 10n ** 12n) throw new Error("no more");
          return { inAmount: amount, outAmount: amount };
        },
      },
    },
  ],
} as unknown as PairMarkets;

test("a neighbour that cannot be read keeps no other from being found", async () => {
  const bad = [3, 4, 5].map((fill) => Address.from(new Uint8Array(32).fill(fill)));
  const neighbours = new Neighbours();
  neighbours.note(
    TOKEN,
    [HUB, ...bad].map((mint) => ({ mints: [TOKEN, mint] })),
  );
  const hubs = new FoundHubs({
    neighbours,
    markets: {
      marketsOf: async ({ a, b }: MintPair) => {
        if (bad.includes(a) || bad.includes(b)) throw new Error("its nodes contradict each other");
        return DEEP;
      },
      mint: () => ({ program: TOKEN_PROGRAM, unsupported: undefined }) as never,
    },
    clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }),
    now: Date.now,
  });
  const pair = { a: SOL_MINT, b: TOKEN };
  await hubs.find(pair, undefined);
  expect(hubs.hubsOf(pair)).toEqual({ mints: [SOL_MINT, USDC_MINT, HUB], isKnown: true });
});

test("a trade does not wait longer than for a turn until its hubs are measured, and later ones have them", async () => {
  const neighbours = new Neighbours();
  neighbours.note(TOKEN, [{ mints: [TOKEN, HUB] }]);
  const search = Promise.withResolvers<PairMarkets>();
  const hubs = new FoundHubs({
    neighbours,
    markets: {
      // The node is slow to say what else trades against the hub.
      marketsOf: ({ a, b }: MintPair) => (a === TOKEN || b === TOKEN ? DEEP : search.promise),
      mint: () => ({ program: TOKEN_PROGRAM, unsupported: undefined }) as never,
    },
    clock: () => ({ slot: 1n, epoch: 0n, unixTimestamp: 0n }),
    now: Date.now,
  });
  const pair = { a: SOL_MINT, b: TOKEN };
  let isFound = false;
  const finding = hubs.find(pair, undefined).then(() => {
    isFound = true;
  });
  await vi.advanceTimersByTimeAsync(2_500);
  expect(isFound).toBe(true);
  await finding;
  expect(hubs.hubsOf(pair)).toMatchObject({ isKnown: false });
  search.resolve(DEEP);
  await vi.waitFor(() => expect(hubs.hubsOf(pair)).toMatchObject({ isKnown: true }));
  expect(hubs.hubsOf(pair).mints).toContain(HUB);
  expect(vi.getTimerCount()).toBe(0);
});
