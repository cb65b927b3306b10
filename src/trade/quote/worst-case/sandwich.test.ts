import { expect, test } from "vitest";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import type { Ask, Quote, Venue } from "../../../venues/venue.ts";
import { findSandwich, MOST_QUOTES } from "./sandwich.ts";

const random = createRandom(31);
const address = () => Address.from(random.bytes(32));
const [A, B] = [address(), address()];
const clock = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const AMOUNT = 10n ** 10n;

interface Pool {
  readonly a: bigint;
  readonly b: bigint;
}

type Member = "quote" | "traded";
/** Sizes of purchases after which the program refuses the swap, whatever its bound. */
type Strays = (bought: bigint) => boolean;

/**
 * A constant product without fees whose code fails from the `failsAt`-th call of a member on.
 *
 * @param mostSold what is known of the market reaches no larger sale
 */
function search(failing?: Member, failsAt = 1, strays: Strays = () => false, mostSold?: bigint) {
  const failures: unknown[] = [];
  const calls = { quote: 0, traded: 0 };
  const count = (member: Member) => {
    calls[member]++;
    if (member === failing && calls[member] >= failsAt) throw new RangeError("Division by zero");
  };
  const venue = {
    id: "raydium_cpmm",
    quote(state: unknown, ask: Ask): Quote {
      count("quote");
      const { a, b } = state as Pool;
      const [reserveIn, reserveOut] = ask.inMint === A ? [a, b] : [b, a];
      if (ask.inMint === B && mostSold !== undefined && ask.amount > mostSold)
        throw new TradewireError("INSUFFICIENT_LIQUIDITY", "too large");
      const outAmount = (reserveOut * ask.amount) / (reserveIn + ask.amount);
      return { ...ask, inAmount: ask.amount, outAmount, priceImpact: 0, fill: null };
    },
    replay(state: unknown, _: Quote, ask: Ask) {
      if (strays((state as Pool).a - 10n ** 12n)) throw new TradewireError("INSUFFICIENT_LIQUIDITY", "uneven");
      const made = venue.quote(state, ask);
      return { made, left: () => venue.traded!(state, made, clock) };
    },
    traded(state: unknown, { inMint, inAmount, outAmount }: Quote): Pool {
      count("traded");
      const { a, b } = state as Pool;
      return inMint === A ? { a: a + inAmount, b: b - outAmount } : { a: a - outAmount, b: b + inAmount };
    },
  } as unknown as Venue;
  const state: Pool = { a: 10n ** 12n, b: 10n ** 12n };
  const market = { venue: "raydium_cpmm", address: address(), mints: [A, B], nativeSol: false } as const;
  const hot = { venue, market, state, slot: 1n, failed: (error: unknown) => void failures.push(error) };
  const signed = venue.quote(state, { mode: "exactIn", inMint: A, outMint: B, amount: AMOUNT, clock });
  const ask = { mode: "exactIn", amount: AMOUNT, bound: (signed.outAmount * 97n) / 100n } as const;
  const steps = findSandwich({ hot, state, inMint: A, outMint: B, signed, ask, clock });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { found: value, failures: failures.length, calls };
  }
}

test("a market whose code fails on what trades leave is unknown, never safe", () => {
  const { found, calls } = search();
  expect(found?.kind).toBe("profitable");
  for (const member of ["quote", "traded"] as const) {
    for (const failsAt of [2, 7, 40, 90, 130].filter((call) => call < calls[member])) {
      const { found: whatIsKnown, failures } = search(member, failsAt);
      expect(whatIsKnown, `${member} ${failsAt}`).toBeUndefined();
      expect(failures).toBeGreaterThan(0);
    }
  }
});

test("sizes after which the swap fails for other reasons than its bound do not end the search", () => {
  const plain = search().found;
  for (const [from, to] of [
    [0n, 20n],
    // Ten doubled sizes in a row, after some that pass.
    [1_000_000n, 2_000_000_000n],
  ] as const) {
    const { found, calls } = search(undefined, 1, (bought) => bought > from && bought < to);
    expect(found, `${from} to ${to}`).toEqual(plain);
    expect(calls.quote).toBeLessThanOrEqual(MOST_QUOTES);
  }
});

test("a sale that may take more if it reached further is unknown, never the most that is within reach", () => {
  const { found } = search();
  if (found?.kind !== "profitable") throw new Error("nothing to take");
  for (const share of [2n, 4n, 16n])
    expect(search(undefined, 1, undefined, found.frontRun / share).found).toBeUndefined();
  expect(search(undefined, 1, undefined, found.frontRun * 2n).found).toEqual(found);
});
