import { expect, test } from "vitest";
import {
  bestRouteOver,
  hubNetwork,
  type NetworkPair,
  type Product,
  stepsOver,
} from "../../../../test/support/hub-network.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { maxOf, U64_MAX } from "../../../primitives/integer.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import { allAtOnce } from "../long-searches.ts";
import { pathCount, type Route } from "../route.ts";
import type { Snapshot } from "../snapshot.ts";

const NETWORKS = 60;
/** How much more an exact input of as much may give. Fraction. */
const MOST_MISSED = 2e-3;

function drawProducts(random: Random): Product[] {
  return Array.from({ length: Number(random.between(1n, 3n)) }, () => {
    const depth = random.between(10n ** 9n, 10n ** 10n);
    return { reserves: [depth, random.between(depth / 2n, depth * 2n)] };
  });
}

test(`${NETWORKS} exact outputs take no more than an exact input that gives as much`, () => {
  const random = createRandom(4242);
  let worst = 0;
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const direct = drawProducts(random);
    const network = hubNetwork((pair) => (pair === "ab" ? direct : drawProducts(random)));
    // Up to most of what the best single market holds: that takes many times as much as a division does.
    const deepest = direct.map(({ reserves }) => reserves[1]).reduce(maxOf);
    const amount = (deepest * random.between(1n, 95n)) / 100n;
    const { inAmount } = bestRouteOver(network, "exactOut", amount);
    worst = Math.max(worst, Number(bestRouteOver(network, "exactIn", inAmount).outAmount) / Number(amount) - 1);
  }
  expect(worst).toBeLessThan(MOST_MISSED);
});

test("exact outputs take no more than an exact input also where markets take only so much", () => {
  const random = createRandom(8);
  let worst = 0;
  for (let drawn = 0; drawn < 3 * NETWORKS; drawn++) {
    const network = hubNetwork(() =>
      drawProducts(random).map((product) => ({ ...product, most: product.reserves[0] / random.between(1n, 20n) })),
    );
    const amount = random.between(10n ** 8n, 2n * 10n ** 9n);
    const route = routeOrNone(network, amount);
    if (route === undefined) continue;
    worst = Math.max(worst, Number(bestRouteOver(network, "exactIn", route.inAmount).outAmount) / Number(amount) - 1);
  }
  expect(worst).toBeLessThan(MOST_MISSED);
});

test("an exact output that must do with fewer paths takes no more than one that is allowed so many", () => {
  const random = createRandom(8_100_003);
  let asked = 0;
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const direct = Array.from({ length: Number(random.between(3n, 6n)) }, (): Product => {
      const depth = random.between(10n ** 8n, 10n ** 10n);
      return { reserves: [depth, random.between(depth / 2n, depth * 2n)] };
    });
    const network = () => hubNetwork((pair) => (pair === "ab" ? direct : []));
    const all = direct.reduce((sum, { reserves }) => sum + reserves[1], 0n);
    const amount = (all * random.between(5n, 60n)) / 100n;
    const used = network();
    const ask = { mode: "exactOut", amount, capacity: "two paths" } as const;
    const { splits, routes } = allAtOnce(stepsOver(used, ask));
    const allowed = routeOrNone(network(), amount, 2);
    if (splits === undefined || pathCount(routes[0]!) < 3 || allowed === undefined || pathCount(allowed) < 2) continue;
    asked++;
    const narrower = allAtOnce(splits.narrower(2));
    expect(Number(narrower!.inAmount) / Number(allowed.inAmount), `network ${drawn}`).toBeLessThan(1 + 1e-4);
    // The next trade knows what fits, and begins with it.
    for (let paths = pathCount(routes[0]!); paths > 2; paths--) splits.neverFits(paths);
    expect(allAtOnce(stepsOver(used, ask)).routes[0]!.inAmount).toBe(narrower!.inAmount);
  }
  expect(asked).toBeGreaterThan(NETWORKS / 2);
});

/** In millions. */
const limited = (from: number, to: number, most: number): Product => ({
  reserves: [BigInt(from) * 1_000_000n, BigInt(to) * 1_000_000n],
  most: BigInt(most) * 1_000_000n,
});

const twoMarkets = () => {
  const market = { reserves: [10n ** 10n, 10n ** 10n] } as const;
  return hubNetwork((pair) => (pair === "ab" ? [market, market] : []));
};

test("what no market holds is bought on two that hold it together", () => {
  const { inAmount, outAmount, steps } = bestRouteOver(twoMarkets(), "exactOut", 15n * 10n ** 9n);
  expect([outAmount, steps.length]).toEqual([15n * 10n ** 9n, 2]);
  // Three quarters of each cost three times what it holds of the other side.
  expect(Number(inAmount) / 6e10).toBeCloseTo(1, 6);
});

test("an exact output is divided between markets that are full with less than the search is for", () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(5_667, 6_047, 2_834), limited(3_561, 6_177, 178)],
    ah: [limited(3_376, 2_184, 1_125), limited(5_512, 2_953, 394), limited(2_165, 1_976, 241)],
    hb: [limited(7_363, 13_329, 460)],
    af: [limited(7_473, 11_871, 374), limited(8_659, 12_908, 1_082)],
    fb: [limited(3_894, 6_401, 243), limited(2_913, 4_959, 416), limited(4_767, 9_217, 340)],
    hf: [limited(4_566, 5_632, 240)],
  };
  const { inAmount } = bestRouteOver(
    hubNetwork((pair) => pairs[pair] ?? []),
    "exactOut",
    1_690_000_000n,
  );
  // The best single path takes 2.2e9.
  expect(Number(inAmount)).toBeLessThan(8e8);
});

test("an exact output is divided though one market gives it near its limit, at a worse price", () => {
  const network = hubNetwork((pair) =>
    pair === "ab" ? [limited(7_000, 7_210, 250), { ...limited(10_000, 8_200, 0), most: 333_333_333n }] : [],
  );
  // The better market costs 250e6 for 248.6e6; the other one costs 314e6 for all of it.
  expect(Number(bestRouteOver(network, "exactOut", 249_500_000n).inAmount)).toBeLessThan(251.1e6);
});

test("an exact output is divided over markets that are found for somewhat more of it", () => {
  const exactly = (from: bigint, to: bigint, most: bigint): Product => ({ reserves: [from, to], most });
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [
      exactly(8_734_370_224n, 10_433_021_094n, 2_911_456_741n),
      exactly(2_669_328_375n, 2_401_003_568n, 1_334_664_187n),
      exactly(7_488_907_237n, 6_740_932_035n, 2_496_302_412n),
    ],
    ah: [
      exactly(6_094_361_772n, 10_349_829_176n, 507_863_481n),
      exactly(3_354_302_009n, 5_978_295_979n, 176_542_211n),
      exactly(2_093_834_867n, 2_177_504_453n, 523_458_716n),
    ],
    hb: [
      exactly(4_040_567_499n, 2_682_608_742n, 808_113_499n),
      exactly(8_186_163_969n, 14_510_571_275n, 909_573_774n),
      exactly(2_992_830_681n, 5_250_194_025n, 187_051_917n),
    ],
    af: [
      exactly(2_999_454_620n, 2_162_409_672n, 149_972_731n),
      exactly(8_205_763_228n, 15_804_115_883n, 431_882_275n),
      exactly(8_371_148_795n, 14_621_567_307n, 643_934_522n),
    ],
    fb: [
      exactly(6_571_610_035n, 10_683_928_730n, 345_874_212n),
      exactly(6_726_327_791n, 7_550_342_440n, 1_121_054_631n),
      exactly(1_176_944_765n, 1_070_606_484n, 106_994_978n),
    ],
    hf: [
      exactly(2_162_786_460n, 2_982_728_897n, 2_162_786_460n),
      exactly(2_541_241_993n, 4_485_009_905n, 282_360_221n),
    ],
  };
  const { inAmount } = bestRouteOver(
    hubNetwork((pair) => pairs[pair] ?? []),
    "exactOut",
    1_792_173_291n,
  );
  // Over the markets for exactly so much it takes 608e6; no four paths take less than 600.6e6.
  expect(Number(inAmount)).toBeLessThan(602e6);
});

test("what all markets together do not hold is refused as too large", () => {
  expect(() => bestRouteOver(twoMarkets(), "exactOut", 2n * 10n ** 10n)).toThrow("Trade less");
});

test("exact outputs that no market holds take about what an exact input takes that gives as much", () => {
  const random = createRandom(4243);
  let made = 0;
  let missed = 0;
  for (let drawn = 0; drawn < NETWORKS; drawn++) {
    const direct = drawProducts(random);
    const network = hubNetwork((pair) => (pair === "ab" ? direct : drawProducts(random)));
    const deepest = direct.map(({ reserves }) => reserves[1]).reduce(maxOf);
    const amount = (deepest * random.between(100n, 200n)) / 100n;
    const route = routeOrNone(network, amount);
    if (route === undefined) continue;
    expect(route.outAmount).toBe(amount);
    made++;
    missed += Number(bestRouteOver(network, "exactIn", route.inAmount).outAmount) / Number(amount) - 1;
  }
  // The others ask for more than four paths give.
  expect(made).toBe(NETWORKS - 4);
  expect(missed / made).toBeLessThan(MOST_MISSED);
});

function routeOrNone(network: Snapshot, amount: bigint, maxPaths?: number): Route | undefined {
  try {
    return bestRouteOver(network, "exactOut", amount, maxPaths);
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

test("a division that takes more than an account can hold is refused", () => {
  const market = { reserves: [15n * 10n ** 18n, 10n ** 10n], most: U64_MAX } as const;
  const network = hubNetwork((pair) => (pair === "ab" ? [market, market] : []));
  // Each market would take 16.25e18.
  expect(() => bestRouteOver(network, "exactOut", 104n * 10n ** 8n)).toThrow("Trade less");
});
