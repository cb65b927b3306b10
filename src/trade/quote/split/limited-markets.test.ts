import { expect, test } from "vitest";
import {
  bestRouteOver,
  hubNetwork,
  type NetworkPair,
  type Product,
  stepsOver,
} from "../../../../test/support/hub-network.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import { createRandom, type Random } from "../../../primitives/random.ts";
import { LongSearches } from "../long-searches.ts";

const NETWORKS = 60;

/** Of equal sides, each with a limit to what it takes. */
function drawProducts(random: Random): Product[] {
  return Array.from({ length: Number(random.between(1n, 3n)) }, () => {
    const reserve = random.between(10n ** 8n, 10n ** 10n);
    return { reserves: [reserve, reserve], most: random.between(reserve / 50n, reserve) };
  });
}

test.each(["exactIn", "exactOut"] as const)(
  `${NETWORKS} trades over markets that take only so much are made or refused, %s`,
  (mode) => {
    const random = createRandom(4);
    let made = 0;
    for (let drawn = 0; drawn < NETWORKS; drawn++) {
      const network = hubNetwork((pair) => (pair === "ab" ? [] : drawProducts(random)));
      const amount = random.between(10n ** 7n, 2n * 10n ** 9n);
      try {
        expect(bestRouteOver(network, mode, amount)[mode === "exactIn" ? "inAmount" : "outAmount"]).toBe(amount);
        made++;
      } catch (error) {
        expect(error).toBeInstanceOf(TradewireError);
      }
    }
    expect(made).toBeGreaterThan(NETWORKS / 4);
  },
);

/** In millions. */
const limited = (from: number, to: number, most: number): Product => ({
  reserves: [BigInt(from) * 1_000_000n, BigInt(to) * 1_000_000n],
  most: BigInt(most) * 1_000_000n,
});

test("the only market that takes what the better ones leave is not given up before them", () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(3_237, 6_397, 170), limited(5_056, 4_147, 5_056), limited(6_704, 4_943, 2_234)],
    ah: [limited(3_968, 4_797, 396), limited(7_811, 10_346, 520), limited(2_278, 4_425, 162)],
    hb: [limited(7_912, 5_074, 1_130), limited(3_168, 5_260, 352)],
    af: [limited(6_948, 5_070, 434), limited(1_359, 2_710, 90)],
    fb: [limited(3_309, 5_876, 165), limited(6_703, 9_304, 352), limited(6_461, 7_244, 497)],
    hf: [limited(3_373, 2_918, 224), limited(5_638, 4_230, 375), limited(3_423, 3_956, 380)],
  };
  const network = hubNetwork((pair) => pairs[pair] ?? []);
  for (const amount of [740_000_000n, 780_000_000n, 840_000_000n, 1_000_000_000n]) {
    // The best single path gives 5.3e8 for the first.
    expect(Number(bestRouteOver(network, "exactIn", amount).outAmount)).toBeGreaterThan(1.25e9);
  }
});

test("a market that gives next to nothing takes what the full ones leave, and no more", () => {
  const full = limited(1_000, 1_000, 200);
  const emptied: Product = { reserves: [10n, 3n] };
  for (const most of [210n, 300n, 900n]) {
    const network = hubNetwork((pair) => (pair === "ab" ? [full, emptied] : []));
    // The other market alone gives two base units for all of it.
    expect(Number(bestRouteOver(network, "exactIn", most * 1_000_000n).outAmount)).toBeGreaterThan(165e6);
  }
});

test("a market that takes little at a good price has a part beside many that take more at worse ones", () => {
  const small: Product = { reserves: [10n ** 10n, 10n ** 10n], most: 35_000_000n };
  for (const others of [7, 8, 9, 15]) {
    const pools = Array.from({ length: others }, (_, index) => limited(200 + index, 200, 1_000));
    const network = hubNetwork((pair) => (pair === "ab" ? [...pools, small] : []));
    // Four of the pools give 1.72e8.
    expect(Number(bestRouteOver(network, "exactIn", 218_000_000n).outAmount)).toBeGreaterThan(1.74e8);
  }
});

test("an exact input that four paths take only at nearly all their limits is made", () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(7_180, 10_777, 513)],
    ah: [limited(8_486, 12_858, 471)],
    hb: [limited(6_727, 11_646, 517)],
    af: [limited(9_340, 8_361, 9_340)],
    fb: [limited(5_262, 8_702, 438), limited(8_617, 15_072, 431)],
  };
  const network = hubNetwork((pair) => pairs[pair] ?? []);
  for (const amount of [1_850_000_000n, 1_900_000_000n, 1_940_000_000n]) {
    const { inAmount, outAmount } = bestRouteOver(network, "exactIn", amount);
    expect(inAmount).toBe(amount);
    expect(Number(outAmount)).toBeGreaterThan(1.5 * Number(amount));
  }
});

test("what a full market brings to a hub goes the best ways onward", () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(8_337, 9_812, 758)],
    ah: [limited(3_863, 5_546, 215)],
    hb: [limited(9_791, 15_952, 576)],
    af: [limited(5_865, 4_298, 5_865)],
    fb: [limited(4_014, 7_779, 573)],
    hf: [limited(5_370, 5_731, 2_685)],
  };
  const network = hubNetwork((pair) => pairs[pair] ?? []);
  const { inAmount } = bestRouteOver(network, "exactOut", 1_775_000_000n);
  // The best division takes 1.3485e9.
  expect(Number(inAmount)).toBeLessThan(1.35e9);
});

/** Near the limits of their markets, a few paths are easily narrowed to the wrong ones. The least that the best division gives, in millions. */
const NEAR_LIMITS: readonly (readonly [string, number, number, Partial<Record<NetworkPair, readonly Product[]>>])[] = [
  [
    "the markets take everything only as the shape found divides it",
    652,
    1_360,
    {
      ab: [limited(2_301, 2_094, 230)],
      ah: [limited(2_376, 3_533, 216), limited(2_402, 4_223, 141), limited(9_168, 7_354, 482)],
      hb: [limited(3_064, 5_561, 383)],
      af: [limited(5_705, 5_817, 950), limited(6_650, 7_993, 1_662)],
      fb: [limited(6_113, 9_453, 679), limited(3_044, 2_075, 761), limited(7_915, 10_748, 527)],
      hf: [limited(3_246, 3_378, 249), limited(7_186, 7_170, 359), limited(9_093, 11_384, 1_515)],
    },
  ],
  [
    "the best markets do not take the greatest trade that shares the plan",
    2_508,
    1_750,
    {
      ab: [limited(9_450, 8_220, 726), limited(7_663, 4_848, 1_277), limited(8_690, 6_273, 457)],
      ah: [limited(1_905, 2_987, 105)],
      hb: [limited(7_216, 8_959, 379), limited(6_622, 4_057, 1_324), limited(2_212, 2_401, 147)],
      af: [limited(7_665, 4_421, 2_555)],
      fb: [limited(6_283, 4_570, 571), limited(7_627, 6_424, 3_813)],
      hf: [limited(7_568, 6_820, 582), limited(2_093, 1_879, 110)],
    },
  ],
  [
    "the cheapest loss leaves too little room for later ones",
    2_276,
    3_490,
    {
      ab: [limited(2_476, 1_976, 619)],
      ah: [limited(7_688, 4_916, 1_281), limited(3_926, 4_636, 1_308)],
      hb: [limited(1_605, 889, 178), limited(5_817, 7_272, 528)],
      af: [limited(7_932, 12_641, 495)],
      fb: [limited(4_803, 6_856, 320), limited(7_572, 13_312, 7_572)],
      hf: [limited(6_972, 7_344, 498), limited(7_873, 15_355, 562)],
    },
  ],
];

test.each(NEAR_LIMITS)("an exact input is divided well where %s", (_, inAmount, least, pairs) => {
  const network = hubNetwork((pair) => pairs[pair] ?? []);
  const { outAmount } = bestRouteOver(network, "exactIn", BigInt(inAmount) * 1_000_000n);
  expect(Number(outAmount)).toBeGreaterThan(least * 1e6);
});

test("an exact output is made that four paths give for more input than all together", () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(6_435, 3_856, 643), limited(2_345, 3_616, 146), limited(2_789, 3_795, 253)],
    ah: [limited(7_631, 8_924, 401), limited(3_395, 6_048, 679)],
    hb: [limited(5_245, 5_334, 403)],
    af: [limited(6_319, 6_445, 315), limited(7_641, 5_147, 545), limited(6_159, 7_695, 615)],
    fb: [limited(3_352, 6_397, 478), limited(2_816, 2_561, 704)],
    hf: [limited(6_721, 12_587, 336), limited(5_012, 7_181, 250), limited(2_700, 4_577, 168)],
  };
  const route = bestRouteOver(
    hubNetwork((pair) => pairs[pair] ?? []),
    "exactOut",
    1_570_000_000n,
  );
  expect(route.outAmount).toBe(1_570_000_000n);
  expect(Number(route.inAmount)).toBeLessThan(705e6);
});

test("an exact output that no division gives makes no other trade of its size worse", () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(1_117, 1_296, 1_117)],
    ah: [limited(8_907, 14_574, 1_272)],
    hb: [limited(5_580, 11_148, 279)],
    fb: [limited(1_568, 2_046, 100_000)],
    hf: [limited(9_992, 18_450, 1_427)],
  };
  const inputAfter = (earlier: readonly bigint[]) => {
    const network = hubNetwork((pair) => pairs[pair] ?? []);
    for (const amount of earlier) expect(() => bestRouteOver(network, "exactOut", amount)).toThrow(TradewireError);
    return Number(bestRouteOver(network, "exactOut", 2_334_000_000n).inAmount);
  };
  expect(inputAfter([3_381_000_000n])).toBeLessThan(inputAfter([]) * 1.001);
});

/** Trades that share a plan, in millions: the second was refused after the first, although it is made alone. */
const SHARING: readonly (readonly [
  "exactIn" | "exactOut",
  number,
  number,
  Partial<Record<NetworkPair, readonly Product[]>>,
])[] = [
  [
    "exactIn",
    994,
    969,
    {
      ah: [limited(5_506, 10_351, 305)],
      hb: [limited(8_181, 15_707, 1_168)],
      af: [limited(6_139, 5_218, 877), limited(8_591, 8_848, 781)],
      fb: [limited(9_287, 6_408, 515)],
    },
  ],
  [
    "exactIn",
    1_813,
    1_863,
    {
      ah: [limited(7_126, 9_691, 712), limited(6_248, 5_935, 3_124)],
      hb: [limited(1_518, 2_383, 126), limited(2_052, 1_436, 342)],
      fb: [limited(2_756, 3_252, 1_378), limited(2_813, 3_375, 281)],
      hf: [limited(9_736, 9_930, 572), limited(2_420, 4_210, 403)],
    },
  ],
  [
    "exactOut",
    2_160,
    2_271,
    {
      ah: [limited(8_027, 7_705, 472), limited(9_683, 16_267, 691)],
      af: [limited(6_272, 9_658, 448)],
      fb: [limited(2_358, 1_650, 196), limited(8_397, 11_335, 2_099)],
      hf: [limited(9_053, 15_480, 2_263)],
    },
  ],
];

test.each(SHARING)(
  "a trade of %s that shares the plan of another is made as if alone",
  (mode, first, second, pairs) => {
    const network = () => hubNetwork((pair) => pairs[pair] ?? []);
    const [earlier, amount] = [BigInt(first) * 1_000_000n, BigInt(second) * 1_000_000n];
    const alone = bestRouteOver(network(), mode, amount);
    const shared = network();
    try {
      bestRouteOver(shared, mode, earlier);
    } catch (error) {
      expect(error).toBeInstanceOf(TradewireError);
    }
    const { inAmount, outAmount } = bestRouteOver(shared, mode, amount);
    const [most, least] = [Number(alone.inAmount) * 1.005, Number(alone.outAmount) * 0.995];
    expect(Number(inAmount)).toBeLessThanOrEqual(most);
    expect(Number(outAmount)).toBeGreaterThanOrEqual(least);
  },
);

test("trades of one plan that search at the same time are made as if alone", async () => {
  const pairs: Partial<Record<NetworkPair, readonly Product[]>> = {
    ab: [limited(3_594, 6_972, 399), limited(4_874, 7_018, 243)],
    ah: [limited(2_759, 2_593, 137)],
    hb: [limited(7_233, 4_556, 1_808)],
    af: [limited(9_826, 9_432, 701)],
    fb: [limited(6_052, 7_565, 403), limited(1_074, 902, 63)],
    hf: [limited(2_688, 4_784, 179)],
  };
  const network = hubNetwork((pair) => pairs[pair] ?? []);
  const searches = new LongSearches({ pause: async () => undefined });
  const [made, refused] = await Promise.allSettled(
    [1_537_000_000n, 1_575_000_000n].map(async (amount) =>
      searches.run(() => stepsOver(network, { mode: "exactOut", amount })),
    ),
  );
  const alone = bestRouteOver(
    hubNetwork((pair) => pairs[pair] ?? []),
    "exactOut",
    1_537_000_000n,
  );
  if (made?.status !== "fulfilled" || refused?.status !== "rejected") throw new Error("made or refused, not as alone");
  expect(Number(made.value.routes[0]!.inAmount)).toBeLessThan(Number(alone.inAmount) * 1.001);
  expect(refused.reason).toBeInstanceOf(TradewireError);
});
