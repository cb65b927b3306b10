import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork, type Product } from "../../../../test/support/hub-network.ts";
import { readSampleMarkets } from "../../../../test/support/sample-markets.ts";
import type { HotMarket, PairMarkets } from "../../../market/port.ts";
import { createRandom } from "../../../primitives/random.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { Quote, Venue } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import type { Route } from "../route.ts";
import { routesOf } from "../snapshot.ts";
import { heldMarkets } from "./changed-markets.ts";
import { sampledCurve } from "./curves/sampled-curves.ts";

const { mint, clock, markets } = readSampleMarkets();
const deep = markets.filter(({ name, venue }) => venue.id !== "meteora_damm_v1" && Number(name.split(" ").at(-1)) < 6);
const MARKETS = 12;
const AMOUNT = 1_000_000_000_000n;
const PARTS = 1_000_000n;

/** A sample market whose output is changed by millionths, which are its state. */
interface Scaled {
  readonly inner: unknown;
  readonly change: bigint;
}

function scaledMarkets() {
  const quotes = { made: 0 };
  const hot = Array.from({ length: MARKETS }, (_, index): HotMarket => {
    const { venue, hot: sample } = deep[index % deep.length]!;
    const { after: _after, ...described } = venue;
    const quote: Venue["quote"] = (state, ask) => {
      quotes.made++;
      const { inner, change } = state as Scaled;
      const made: Quote = venue.quote(inner, ask);
      return { ...made, outAmount: made.outAmount + (made.outAmount * change) / PARTS };
    };
    return { ...sample, venue: { ...described, quote }, state: { inner: sample.state, change: 0n } satisfies Scaled };
  });
  return { hot, quotes };
}

const moved = (hot: readonly HotMarket[], at: number, change: bigint): readonly HotMarket[] =>
  hot.map((one, index) => (index === at ? { ...one, state: { ...(one.state as Scaled), change } } : one));

function best(direct: PairMarkets, amount: bigint, maxPaths = 4): Route {
  const side = (address: typeof mint) => ({ address, program: TOKEN_PROGRAM, decimals: 9, supply: 10n ** 18n });
  const intent = {
    inMint: side(SOL_MINT),
    outMint: side(mint),
    mode: "exactIn",
    amount,
    slippagePpb: 0n,
    emptied: undefined,
    bounds: { maxPaths, maxLegs: 3, allows: undefined, key: "" },
  } as unknown as Intent;
  return allAtOnce(routesOf({ searchSoon: () => undefined }, intent, { direct, hubs: [], between: [] }, clock))
    .routes[0]!;
}

const pairOf = (hot: readonly HotMarket[], line?: object): PairMarkets => ({
  markets: hot,
  faults: [],
  searched: [],
  ...(line === undefined ? {} : { line }),
});

test("if one market is written again, unchanged, a division takes few quotes and gives the same", () => {
  const { hot, quotes } = scaledMarkets();
  const line = {};
  const first = best(pairOf(hot, line), AMOUNT);
  for (let at = 0; at < MARKETS; at++) {
    quotes.made = 0;
    const again = best(pairOf(moved(hot, at, 0n), line), AMOUNT);
    expect(quotes.made).toBeLessThan(60);
    expect(again.outAmount).toBe(first.outAmount);
  }
});

test("after a market moved by a little, the division loses at most that; by more, it is searched again", () => {
  const random = createRandom(88);
  const { hot } = scaledMarkets();
  let [gain, lost] = [0, 0];
  for (let round = 0; round < 60; round++) {
    const amount = AMOUNT / random.between(1n, 16n);
    const line = {};
    best(pairOf(hot, line), amount);
    const change = random.between(0n, 400n) - 200n;
    const now = moved(hot, Number(random.between(0n, BigInt(MARKETS - 1))), change);
    const [kept, fresh] = [best(pairOf(now, line), amount), best(pairOf(now), amount)];
    expect(kept.inAmount).toBe(amount);
    expect(Number(kept.outAmount) / Number(fresh.outAmount)).toBeGreaterThan(1 - 2e-4);
    gain += Number(fresh.outAmount) / Number(best(pairOf(now), amount, 1).outAmount) - 1;
    lost += 1 - Number(kept.outAmount) / Number(fresh.outAmount);
    // Far more: nothing of the old plan is used.
    const far = moved(hot, round % MARKETS, 20_000n);
    expect(best(pairOf(far, line), amount).outAmount).toBe(best(pairOf(far), amount).outAmount);
  }
  console.log(`taken over: ${((lost / gain) * 100).toFixed(3)} % of the gain lost`);
  expect(lost).toBeLessThan(gain * 0.005);
});

test("a market that comes, goes or grows far better is noticed", () => {
  const { hot } = scaledMarkets();
  const line = {};
  const amount = AMOUNT / 3n;
  best(pairOf(hot, line), amount);
  for (const others of [
    hot.slice(1),
    [...hot.slice(3), ...hot.slice(0, 3)],
    moved(hot, 11, 100_000n),
    moved(hot, 0, -900_000n),
  ]) {
    expect(best(pairOf(others, line), amount).outAmount).toBe(best(pairOf(others), amount).outAmount);
    best(pairOf(hot, line), amount);
  }
});

test("a market that takes more than it did is noticed, though its price is the same", () => {
  const limitedTo = (most: bigint): Product => ({ reserves: [10n ** 12n, 10n ** 12n], most });
  const worse: Product = { reserves: [10n ** 12n, 94n * 10n ** 10n] };
  const network = hubNetwork((pair) => (pair === "ab" ? [limitedTo(10n ** 8n), worse] : []));
  const [limited, other] = network.direct.markets;
  const outAfter = (most: bigint, line: object) => {
    const state = { ...(limited!.state as Product), ...limitedTo(most) };
    const direct = pairOf([{ ...limited!, state }, other!], line);
    return bestRouteOver({ ...network, direct }, "exactIn", 10n ** 9n).outAmount;
  };
  const line = {};
  outAfter(10n ** 8n, line);
  expect(outAfter(9n * 10n ** 8n, line)).toBe(outAfter(9n * 10n ** 8n, {}));
});

test("a market traded both ways between hubs does not replace an unknown one", () => {
  const { hot } = scaledMarkets();
  const [known, unknown] = [hot[0]!, hot[1]!];
  const budget = { left: 100 };
  const crossings = [
    [SOL_MINT, mint],
    [mint, SOL_MINT],
  ].map(([inMint, outMint], from) => {
    const curve = sampledCurve(
      known,
      { mode: "exactIn", inMint: inMint!, outMint: outMint!, roundSize: 2 ** 30, clock },
      budget,
    )!;
    return { from: 2 + from, to: 3 - from, amount: 2 ** 30, curves: [{ curve, rate: 1 }] };
  });
  const small = { addresses: [], crossings, timed: [] };
  const network = {
    mints: 4,
    addresses: [],
    edges: [],
    isLimited: false,
    onwardRates: new Float64Array(4),
    leastRates: [],
  };
  const written = (one: HotMarket): [HotMarket, HotMarket] => [one, { ...one }];
  expect(heldMarkets({ network, small }, new Map([written(known)]), clock, budget)).toBeDefined();
  expect(heldMarkets({ network, small }, new Map([written(known), written(unknown)]), clock, budget)).toBeUndefined();
});
