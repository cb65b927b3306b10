import { describe, expect, test } from "vitest";
import { chooseRoutes } from "../../../../test/support/choose-routes.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { PairMarkets } from "../../../market/port.ts";
import { Address } from "../../../primitives/address.ts";
import { ceilDiv } from "../../../primitives/integer.ts";
import { createRandom } from "../../../primitives/random.ts";
import { maximumIn, minimumOut } from "../../../primitives/slippage.ts";
import { HUB_MINTS } from "../../../solana/hub-mints.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { Ask, Quote, SwapMode, Venue, VenueId } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import type { Route } from "../route.ts";
import type { HubMarkets } from "./price-routes.ts";

const random = createRandom(23);
const address = () => Address.from(random.bytes(32));
const [A, B] = [address(), address()];
const USDC = HUB_MINTS.find((mint) => mint !== SOL_MINT)!;
const clock = { slot: 100n, epoch: 1n, unixTimestamp: 1n };
const NOTHING: PairMarkets = { markets: [], faults: [], searched: [] };

/** Output per base unit of input, as a fraction: the whole state of a market. */
type Rate = readonly [numerator: bigint, denominator: bigint];

function quoteAt(state: unknown, ask: Ask): Quote {
  const [numerator, denominator] = state as Rate;
  const exactIn = ask.mode === "exactIn";
  const outAmount = exactIn ? (ask.amount * numerator) / denominator : ask.amount;
  if (outAmount === 0n) throw new TradewireError("VALIDATION_ERROR", "the amount is too small");
  const inAmount = exactIn ? ask.amount : ceilDiv(ask.amount * denominator, numerator);
  return { ...ask, inAmount, outAmount, priceImpact: 0.1, fill: undefined };
}

function market(inMint: Address, outMint: Address, rate: Rate, slot = 1n, id: VenueId = "raydium_cpmm"): PairMarkets {
  const venue = { id, quote: quoteAt } as unknown as Venue;
  const mints = [inMint, outMint] as const;
  return {
    markets: [{ venue, market: { venue: id, address: address(), mints, nativeSol: false }, state: rate, slot }],
    faults: [],
    searched: [],
  };
}

function intent(mode: SwapMode, amount: bigint, slippagePpb: bigint, inMint = A, outMint = B): Intent {
  const mint = (of: Address): Intent["inMint"] =>
    ({ address: of, program: TOKEN_PROGRAM, decimals: 6, supply: 10n ** 15n }) as Intent["inMint"];
  return {
    inMint: mint(inMint),
    outMint: mint(outMint),
    mode,
    amount,
    slippagePpb,
    emptied: undefined,
  };
}

function best(asked: Intent, direct: PairMarkets, hubs: readonly HubMarkets[]): Route {
  return chooseRoutes(asked, direct, hubs, clock)[0]!;
}

const hop = (first: Rate, second: Rate, hub = SOL_MINT, slots: readonly [bigint, bigint] = [1n, 1n]): HubMarkets => ({
  hub,
  toHub: market(A, hub, first, slots[0]),
  fromHub: market(hub, B, second, slots[1]),
});

describe("one market", () => {
  test("gets the whole slippage, and has no remainder", () => {
    const sold = best(intent("exactIn", 1_001n, 100_000_000n), market(A, B, [3n, 1n]), []);
    expect(sold).toMatchObject({ inAmount: 1_001n, outAmount: 3_003n, threshold: 2_703n, remainders: [] });
    expect(sold.steps.map(({ threshold }) => threshold)).toEqual([2_703n]);
    const bought = best(intent("exactOut", 3_003n, 100_000_000n), market(A, B, [3n, 1n]), []);
    expect(bought).toMatchObject({ inAmount: 1_001n, outAmount: 3_003n, threshold: 1_101n, remainders: [] });
  });
});

describe("two markets", () => {
  const slippage = 100_000_000n;
  /** The share of the slippage for the amount between the markets, if a token market decides it: 2 % at most. */
  const between = 20_000_000n;

  test("exactIn: the second sells the least that the first may yield, and gets the rest of the slippage", () => {
    const route = best(intent("exactIn", 1_000_003n, slippage), NOTHING, [hop([2n, 1n], [5n, 1n])]);
    const passed = minimumOut(2_000_006n, between);
    const outAmount = passed * 5n;
    const threshold = minimumOut(outAmount, slippage - between);
    expect(route.steps.map(({ threshold: bound }) => bound)).toEqual([passed, threshold]);
    expect(route.steps[1]!.quote.inAmount).toBe(passed);
    expect(route).toMatchObject({
      inAmount: 1_000_003n,
      outAmount,
      threshold,
      remainders: [{ mint: SOL_MINT, amount: 2_000_006n - passed }],
    });
    expect(route.priceImpact).toBe(0.19);
  });

  test("exactOut: the first buys the most that the second may take, and gets the rest of the slippage", () => {
    const route = best(intent("exactOut", 1_000_003n, slippage), NOTHING, [hop([1n, 2n], [1n, 5n])]);
    const passed = maximumIn(5_000_015n, between);
    const inAmount = passed * 2n;
    const threshold = maximumIn(inAmount, slippage - between);
    expect(route.steps.map(({ threshold: bound }) => bound)).toEqual([threshold, passed]);
    expect(route.steps[0]!.quote.outAmount).toBe(passed);
    expect(route).toMatchObject({
      inAmount,
      outAmount: 1_000_003n,
      threshold,
      remainders: [{ mint: SOL_MINT, amount: passed - 5_000_015n }],
    });
  });

  test("the amount between them is decided by the first for exactIn, by the second for exactOut", () => {
    const first = (mode: SwapMode, inMint: Address, outMint: Address) =>
      best(intent(mode, 1_000_000n, slippage, inMint, outMint), NOTHING, [
        { hub: SOL_MINT, toHub: market(inMint, SOL_MINT, [1n, 1n]), fromHub: market(SOL_MINT, outMint, [1n, 1n]) },
      ]).remainders[0]!.amount;
    expect(first("exactIn", USDC, B)).toBe(5_000n);
    expect(first("exactIn", A, USDC)).toBe(20_000n);
    expect(first("exactOut", A, USDC)).toBe(5_000n);
    expect(first("exactOut", USDC, B)).toBe(20_000n);
  });

  test("have the slot of the older state", () => {
    const slotOf = (slots: readonly [bigint, bigint]) =>
      best(intent("exactIn", 1_000n, 0n), NOTHING, [hop([1n, 1n], [1n, 1n], SOL_MINT, slots)]).stateSlot;
    expect([slotOf([7n, 9n]), slotOf([9n, 7n])]).toEqual([7n, 7n]);
  });

  test("are no route if the first yields nothing", () => {
    const hub = hop([1n, 1_000n], [1n, 1n]);
    expect(() => best(intent("exactIn", 999n, 0n), NOTHING, [hub])).toThrow("too small");
    expect(best(intent("exactIn", 1_000n, 0n), NOTHING, [hub]).outAmount).toBe(1n);
  });
});

describe("the order of routes", () => {
  const hubs = [hop([2n, 1n], [1n, 2n])];

  test.each(["exactIn", "exactOut"] as const)("%s: between equals, fewer markets come first", (mode) => {
    // By name alone the single market would come last.
    const direct = market(A, B, [1n, 1n], 1n, "raydium_launchlab");
    expect(best(intent(mode, 1_000n, 0n), direct, hubs).steps).toHaveLength(1);
  });

  test("more output or less input outranks fewer markets", () => {
    const worse = market(A, B, [999n, 1_000n]);
    expect(best(intent("exactIn", 100_000n, 0n), worse, hubs).steps).toHaveLength(2);
    expect(best(intent("exactOut", 100_000n, 0n), worse, hubs).steps).toHaveLength(2);
    const better = market(A, B, [1_001n, 1_000n]);
    expect(best(intent("exactIn", 100_000n, 0n), better, hubs).steps).toHaveLength(1);
    expect(best(intent("exactOut", 100_000n, 0n), better, hubs).steps).toHaveLength(1);
  });
});
