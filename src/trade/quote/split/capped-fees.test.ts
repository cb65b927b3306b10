import { expect, test } from "vitest";
import {
  hubNetwork,
  type NetworkPair,
  type Product,
  stepsOver,
  type Taxes,
} from "../../../../test/support/hub-network.ts";
import { U64_MAX } from "../../../primitives/integer.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import type { Mint } from "../../../solana/token/mint.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import { allAtOnce } from "../long-searches.ts";
import type { Route } from "../route.ts";
import type { Snapshot } from "../snapshot.ts";
import { hasCappedFee } from "./capped-fees.ts";

/** Trades of mints whose transfer fee has a maximum: a large part pays a smaller share than a small one. */
const TRADES = 60;
const NETWORKS = 25;
/** Parts that the reference divides a trade into at first. */
const PARTS = 40n;
/** How much more the reference may give, at worst and in the mean. Fractions. */
const MOST_MISSED = 0.01;
const MEAN_MISSED = 5e-4;

function drawProducts(random: Random, least: bigint): Product[] {
  return Array.from({ length: Number(random.between(least, 3n)) }, () => {
    const depth = random.between(10n ** 9n, 10n ** 10n);
    return { reserves: [depth, (depth * random.between(90n, 110n)) / 100n] };
  });
}

/** Fees of a traded mint, or of both, whose maximum is up to three percent of the trade, or that have none. */
function drawTaxes(random: Random, amount: bigint): Taxes {
  const fee = () => ({
    epoch: 0n,
    bps: random.pick([50n, 300n, 1_000n, 3_000n, 5_000n, 9_999n]),
    maximumFee: random.chance(0.4) ? U64_MAX : (amount * random.between(1n, 300n)) / 10_000n,
  });
  const which = random.pick(["input", "output", "both"]);
  return { input: which === "output" ? undefined : fee(), output: which === "input" ? undefined : fee() };
}

function bestOf(network: Snapshot, mode: SwapMode, amount: bigint, taxes: Taxes, maxPaths = 4): Route {
  return allAtOnce(stepsOver(network, { mode, amount, taxes, maxPaths })).routes[0]!;
}

/** What one market gives; 0 if nothing. */
function outOf({ direct }: Snapshot, place: number, amount: bigint): bigint {
  const { venue, state, market } = direct.markets[place]!;
  const [inMint, outMint] = market.mints as [never, never];
  try {
    return venue.quote(state, {
      mode: "exactIn",
      inMint,
      outMint,
      amount,
      clock: { slot: 1n, epoch: 1n, unixTimestamp: 1n },
    }).outAmount;
  } catch {
    return 0n;
  }
}

/** The most that dividing between the direct markets gives: every division into equal parts, and the best one made finer. */
function referenceOut(network: Snapshot, amount: bigint): bigint {
  const count = network.direct.markets.length;
  const worth = (parts: readonly bigint[]) => parts.reduce((sum, part, at) => sum + outOf(network, at, part), 0n);
  let best = { parts: [amount, 0n, 0n].slice(0, count), out: 0n };
  const consider = (parts: readonly bigint[]): boolean => {
    const out = worth(parts);
    if (out <= best.out) return false;
    best = { parts: [...parts], out };
    return true;
  };
  for (let first = 0n; first <= PARTS; first++) {
    for (let second = 0n; first + second <= PARTS; second++) {
      const [a, b] = [(amount * first) / PARTS, (amount * second) / PARTS];
      if (count === 3) consider([a, b, amount - a - b]);
      else if (first + second === PARTS) consider([a, amount - a]);
    }
  }
  for (let step = amount / PARTS / 2n; step > amount / 10_000n; ) {
    let isBetter = false;
    for (let from = 0; from < count; from++) {
      for (let to = 0; to < count; to++) {
        const parts = [...best.parts];
        if (from === to || parts[from]! < step) continue;
        parts[from]! -= step;
        parts[to]! += step;
        if (consider(parts)) isBetter = true;
      }
    }
    if (!isBetter) step /= 2n;
  }
  return best.out;
}

test(`${TRADES} trades with a maximum fee are divided about as well as any division of them`, () => {
  const random = createRandom(4);
  let [worst, sum, divided] = [0, 0, 0];
  for (let drawn = 0; drawn < TRADES; drawn++) {
    const products = drawProducts(random, 2n);
    const amount = random.between(10n ** 7n, 3n * 10n ** 9n);
    const taxes = drawTaxes(random, amount);
    const network = hubNetwork((pair) => (pair === "ab" ? products : []), taxes);
    const route = bestOf(network, "exactIn", amount, taxes);
    expect(route.steps.reduce((all, { quote }) => all + quote.inAmount, 0n)).toBe(amount);
    if (route.steps.length > 1) divided++;
    const missed = 1 - Number(route.outAmount) / Number(referenceOut(network, amount));
    worst = Math.max(worst, missed);
    sum += Math.max(0, missed);
    const back = bestOf(network, "exactOut", route.outAmount, taxes);
    expect(back.outAmount).toBe(route.outAmount);
    expect(Number(back.inAmount) / Number(amount) - 1).toBeLessThan(MOST_MISSED);
  }
  expect(worst).toBeLessThan(MOST_MISSED);
  expect(sum / TRADES).toBeLessThan(MEAN_MISSED);
  expect(divided).toBeGreaterThan(TRADES / 3);
});

test("over hubs, more paths never give less, and the markets' own quotes add up to the trade", () => {
  const random = createRandom(6);
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const pairs = new Map<NetworkPair, readonly Product[]>();
    for (const pair of ["ab", "ah", "hb", "af", "fb", "hf"] as const) pairs.set(pair, drawProducts(random, 1n));
    const amount = random.between(10n ** 7n, 3n * 10n ** 9n);
    const taxes = drawTaxes(random, amount);
    const network = () => hubNetwork((pair) => pairs.get(pair)!, taxes);
    const [one, four] = [1, 4].map((paths) => bestOf(network(), "exactIn", amount, taxes, paths)) as [Route, Route];
    expect(four.outAmount).toBeGreaterThanOrEqual(one.outAmount);
    const back = bestOf(network(), "exactOut", one.outAmount, taxes);
    expect(Number(back.inAmount)).toBeLessThanOrEqual(Number(amount) * 1.001);
  }
});

test("a fee is capped if it reaches its maximum at an amount that an account holds, in the epoch of the trade", () => {
  const fee = (bps: bigint, maximumFee: bigint) => ({ epoch: 5n, bps, maximumFee });
  const mint = (older: ReturnType<typeof fee>, newer = older) => ({ transferFees: { older, newer } }) as Mint;
  const plain = {} as Mint;
  const at = (epoch: bigint) => ({ slot: 1n, epoch, unixTimestamp: 1n });
  expect(hasCappedFee({ inMint: plain, outMint: plain }, at(1n))).toBe(false);
  expect(hasCappedFee({ inMint: plain, outMint: mint(fee(100n, 5_000n)) }, at(1n))).toBe(true);
  expect(hasCappedFee({ inMint: mint(fee(100n, U64_MAX)), outMint: plain }, at(1n))).toBe(false);
  expect(hasCappedFee({ inMint: mint(fee(0n, 0n)), outMint: plain }, at(1n))).toBe(false);
  const changing = { inMint: mint(fee(100n, U64_MAX), fee(100n, 7n)), outMint: plain };
  expect([hasCappedFee(changing, at(4n)), hasCappedFee(changing, at(5n))]).toEqual([false, true]);
});
