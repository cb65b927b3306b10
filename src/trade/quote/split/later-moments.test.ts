import { expect, test } from "vitest";
import {
  hubNetwork,
  type NetworkPair,
  type Product,
  stepsOver,
  type Taxes,
} from "../../../../test/support/hub-network.ts";
import type { PairMarkets } from "../../../market/port.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import type { ChainClock } from "../../../solana/account.ts";
import type { TransferFee } from "../../../solana/token/transfer-fee.ts";
import type { SwapMode } from "../../../venues/venue.ts";
import type { Intent } from "../../intent.ts";
import { allAtOnce } from "../long-searches.ts";
import type { Snapshot } from "../snapshot.ts";
import { planOf } from "./split-plans.ts";

const WORLDS = 60;
/** How much less a trade may give than on markets of which nothing is remembered. Fraction. */
const MOST_MISSED = 1e-3;
const EPOCH = 1n;
const atSlot = (slot: bigint, epoch = EPOCH): ChainClock => ({ slot, epoch, unixTimestamp: slot });

type Markets = ReadonlyMap<NetworkPair, readonly Product[]>;

interface DrawnTrade {
  readonly mode: SwapMode;
  readonly amount: bigint;
  readonly taxes?: Taxes;
}

/** What a trade gives for a unit of its input at the last of some moments, on markets where it was made at the others. */
function rateAt(markets: Markets, moments: readonly ChainClock[], { taxes = {}, ...trade }: DrawnTrade): number {
  const network = hubNetwork((pair) => markets.get(pair) ?? [], taxes);
  let rate = 0;
  for (const clock of moments) {
    const [route] = allAtOnce(stepsOver(network, { ...trade, taxes, clock })).routes;
    rate = Number(route!.outAmount) / Number(route!.inAmount);
  }
  return rate;
}

const drawTrade = (random: Random): DrawnTrade => ({
  mode: random.pick(["exactIn", "exactOut"]),
  amount: random.between(10n ** 7n, 10n ** 9n),
});

/** Markets of about one price, as many of the pair as asked; some pay a part of the output that grows with the slots. */
function drawMarkets(random: Random, count: number, isTimed: boolean): Markets {
  const draw = (most: number) => Array.from({ length: most }, () => drawProduct(random, isTimed));
  const hubs: NetworkPair[] = random.chance(0.5) ? ["ah", "hb", "af", "fb", "hf"] : [];
  return new Map([["ab", draw(count)], ...hubs.map((pair) => [pair, draw(Number(random.between(0n, 2n)))] as const)]);
}

function drawProduct(random: Random, isTimed: boolean): Product {
  const depth = random.between(10n ** 9n, 10n ** 10n);
  const reserves = [depth, (depth * random.between(95n, 105n)) / 100n] as const;
  if (!isTimed || random.chance(0.3)) return { reserves };
  const [least, pace] = [random.between(0n, 95n), random.between(1n, 10n)];
  return { reserves, pays: ({ slot }) => (least + slot * pace < 100n ? least + slot * pace : 100n) };
}

test.each([2, 3, 7])(
  "on %i markets whose fees fall with time, trades give what they would without a memory",
  (count) => {
    const random = createRandom(8_100_001);
    for (let world = 0; world < WORLDS; world++) {
      const markets = drawMarkets(random, count, true);
      const trade = drawTrade(random);
      // All within the life of what is kept.
      const [first, second, last] = [1n, random.between(2n, 12n), random.between(12n, 25n)].map((slot) => atSlot(slot));
      const fresh = rateAt(markets, [last!], trade);
      for (const before of [[first!], [first!, second!]])
        expect(rateAt(markets, [...before, last!], trade) / fresh, `world ${world}`).toBeGreaterThan(1 - MOST_MISSED);
    }
  },
);

test.each([2, 3, 7])("on %i markets of a mint whose transfer fee has changed, they do too", (count) => {
  const random = createRandom(8_100_002);
  const drawFee = (epoch: bigint): TransferFee => ({
    epoch,
    bps: random.pick([0n, 100n, 3_000n, 9_000n]),
    maximumFee: random.pick([10n ** 6n, 10n ** 18n]),
  });
  for (let world = 0; world < WORLDS; world++) {
    const markets = drawMarkets(random, count, false);
    const fees = { older: drawFee(0n), newer: drawFee(EPOCH + 1n) };
    const trade = { ...drawTrade(random), taxes: random.chance(0.5) ? { input: fees } : { output: fees } };
    const last = atSlot(random.between(2n, 25n), EPOCH + 1n);
    const fresh = rateAt(markets, [last], trade);
    expect(rateAt(markets, [atSlot(1n), last], trade) / fresh, `world ${world}`).toBeGreaterThan(1 - MOST_MISSED);
  }
});

/** Whether a plan made in the first slot serves in others. */
function serves(network: Snapshot, pairs: readonly PairMarkets[], slots: readonly bigint[]): readonly boolean[] {
  const crossings = pairs.map((pair) => {
    const [from, to] = pair.markets[0]!.market.mints;
    return { from, to, pair };
  });
  const [inMint, outMint] = network.direct.markets[0]!.market.mints.map((address) => ({ address }));
  const intent = { inMint, outMint, mode: "exactIn", amount: 10n ** 9n } as unknown as Intent;
  const workAt = (slot: bigint) => {
    const plan = planOf(intent, crossings, { inAmount: 10 ** 9, maxLegs: 3, clock: atSlot(slot) });
    expect(plan.network.edges.length).toBeGreaterThan(1);
    return plan.work;
  };
  const first = workAt(1n);
  return slots.map((slot) => workAt(slot) === first);
}

const steady = (most: number): readonly Product[] =>
  Array.from({ length: most }, (_, place) => ({ reserves: [10n ** 10n, 10n ** 10n - BigInt(place) * 10n ** 6n] }));

test.each<[string, (slot: bigint) => bigint, readonly boolean[]]>([
  ["its fee falls, but not far enough", (slot) => 50n + slot, [true, true, true]],
  ["it opens", (slot) => (slot < 9n ? 0n : 50n), [true, true, false]],
  [
    "with a falling fee pays as much as the others: then",
    (slot) => (slot < 9n ? 60n + slot : 100n),
    [true, true, false],
  ],
])("a market that had no part has a plan made again only once it may have one: %s", (_how, paid, expected) => {
  const timed: Product = { reserves: [10n ** 10n, 10n ** 10n], pays: ({ slot }) => paid(slot) };
  const network = hubNetwork((pair) => (pair === "ab" ? [...steady(4), timed] : []));
  expect(serves(network, [network.direct], [2n, 8n, 20n])).toEqual(expected);
});

test("no plan is made again for markets that it had no quote left to ask", () => {
  const timed: Product = { reserves: [10n ** 10n, 10n ** 10n], pays: ({ slot }) => 50n + slot };
  const network = hubNetwork((pair) => (pair === "fb" ? [...steady(47), timed] : steady(48)));
  const [near, far] = network.hubs;
  const pairs = [network.direct, near!.toHub, far!.toHub, network.between![0]!.pair, near!.fromHub, far!.fromHub];
  expect(serves(network, pairs, [2n, 9n, 25n])).toEqual([true, true, true]);
});
