import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork, type NetworkPair } from "../../../../test/support/hub-network.ts";

/** Of each market both reserves, and the most that it takes. Base units. */
type Rows = readonly (readonly [bigint, bigint, bigint])[];

type AllRows = Readonly<Record<NetworkPair, Rows>>;

const networkOf = (rows: AllRows) =>
  hubNetwork((pair) => rows[pair].map(([x, y, most]) => ({ reserves: [x, y], most })));

const inputFor = (amount: bigint, rows: AllRows) => bestRouteOver(networkOf(rows), "exactOut", amount).inAmount;

const outputFor = (amount: bigint, rows: AllRows) => bestRouteOver(networkOf(rows), "exactIn", amount).outAmount;

test("an exact output is divided over a hub whose units are worth a hundredth of the trade each", () => {
  const input = inputFor(2_575_619_780n, {
    ab: [
      [8_750_000_000n, 11_470_000_000n, 8_048_572_547n],
      [2_840_000_000n, 1_560_000_000n, 620_117_857n],
      [8_780_000_000n, 7_690_000_000n, 1_926_860_294n],
    ],
    ah: [
      [6_450_000_000n, 1_275n, 427_792_488n],
      [5_650_000_000n, 758n, 4_204_581_738n],
      [4_720_000_000n, 712n, 780_405_113n],
    ],
    hb: [[704n, 11_420_000_000n, 69n]],
    af: [
      [7_290_000_000n, 9_760_000_000n, 3_137_711_877n],
      [9_890_000_000n, 15_790_000_000n, 7_569_604_471n],
    ],
    fb: [
      [3_180_000_000n, 4_270_000_000n, 435_645_554n],
      [9_650_000_000n, 7_970_000_000n, 4_714_143_869n],
      [7_410_000_000n, 5_790_000_000n, 3_740_156_374n],
    ],
    hf: [
      [242n, 4_760_000_000n, 236n],
      [400n, 4_290_000_000n, 151n],
      [742n, 12_690_000_000n, 501n],
    ],
  });
  // One market takes 2,533,810,397.
  expect(input).toBeLessThan(1_500_000_000n);
});

test("where all markets of a division are at their limits, it is made without one of them", () => {
  const input = inputFor(1_830_986_058n, {
    ab: [
      [6_700_000_000n, 4_480_000_000n, 5_686_756_953n],
      [7_100_000_000n, 6_360_000_000n, 1_268_952_437n],
      [3_260_000_000n, 2_130_000_000n, 2_693_187_541n],
    ],
    ah: [
      [1_700_000_000n, 118n, 502_523_092n],
      [1_080_000_000n, 76n, 705_751_716n],
    ],
    hb: [
      [894n, 8_860_000_000n, 431n],
      [334n, 5_470_000_000n, 280n],
    ],
    af: [[2_560_000_000n, 3_860_000_000n, 150_144_301n]],
    fb: [
      [6_900_000_000n, 5_190_000_000n, 3_248_961_565n],
      [7_080_000_000n, 4_840_000_000n, 5_620_031_138n],
    ],
    hf: [
      [600n, 3_870_000_000n, 53n],
      [730n, 11_700_000_000n, 335n],
    ],
  });
  // One market takes 4,631,008,692.
  expect(input).toBeLessThan(3_000_000_000n);
});

test("an exact input is divided over a hub of whose units a small part buys none", () => {
  const output = outputFor(2_424_660_301n, {
    ab: [[1_985_162_396n, 3_848_667_146n, 612_486_059n]],
    ah: [
      [4_866_382_132n, 25n, 2_925_861_610n],
      [9_490_819_438n, 99n, 8_153_961_427n],
    ],
    hb: [[21n, 1_689_021_249n, 9n]],
    af: [[1_217_748_892n, 647_440_589n, 546_959_513n]],
    fb: [
      [6_011_610_985n, 9_156_464_521n, 3_574_304_003n],
      [7_767_100_239n, 14_691_694_380n, 7_469_888_596n],
    ],
    hf: [
      [14n, 1_054_053_445n, 9n],
      [31n, 4_092_676_748n, 8n],
      [37n, 4_491_905_598n, 19n],
    ],
  });
  // The best path gives 1,433,084,819.
  expect(output).toBeGreaterThan(3_300_000_000n);
});

test("a small part that buys no unit of a hub does not say what dividing gains", () => {
  const output = outputFor(156_357_035n, {
    ab: [[5_536_356_808n, 5_211_901_181n, 5_164_804_790n]],
    ah: [
      [8_949_399_088n, 1_313n, 6_745_911_226n],
      [2_878_435_500n, 540n, 744_755_726n],
    ],
    hb: [[935n, 10_148_679_226n, 560n]],
    af: [
      [7_048_466_693n, 3_731_352_411n, 1_792_409_341n],
      [8_967_159_585n, 6_020_763_912n, 2_111_377_551n],
    ],
    fb: [
      [5_087_546_919n, 9_895_853_042n, 200_866_990n],
      [4_519_879_472n, 5_099_081_916n, 3_786_833_797n],
      [1_153_749_662n, 2_064_909_842n, 357_000_561n],
    ],
    hf: [
      [303n, 3_254_466_596n, 49n],
      [623n, 9_756_087_160n, 265n],
      [594n, 8_626_093_627n, 242n],
    ],
  });
  // The best path gives 462,242,966.
  expect(output).toBeGreaterThan(680_000_000n);
});

test("an exact input gives no less than the best path, of whose first market it buys a single unit", () => {
  const output = outputFor(2_811_625_660n, {
    ab: [[1_841_315_719n, 3_514_532_075n, 650_280_340n]],
    ah: [
      [8_682_585_038n, 7n, 6_813_291_148n],
      [2_413_351_744n, 2n, 1_215_992_650n],
      [8_642_085_326n, 12n, 3_295_060_959n],
    ],
    hb: [
      [1n, 1_353_848_552n, 1n],
      [5n, 11_052_983_188n, 1n],
    ],
    af: [[3_658_844_435n, 6_969_387_422n, 319_541_374n]],
    fb: [
      [9_018_816_584n, 12_076_667_597n, 1_824_960_605n],
      [8_574_165_963n, 5_842_351_706n, 907_799_142n],
      [8_453_233_747n, 8_656_690_627n, 1_388_798_971n],
    ],
    hf: [
      [1n, 2_301_759_985n, 1n],
      [3n, 7_111_227_384n, 1n],
    ],
  });
  expect(output).toBeGreaterThanOrEqual(1_988_583_048n);
});

test("an exact input gives no less than the best path, where what reaches a hub is between one and two units", () => {
  const output = outputFor(1_733_265_468n, {
    ab: [
      [2_187_482_456n, 1_539_818_671n, 1_583_116_087n],
      [4_143_601_108n, 5_906_729_236n, 2_759_108_019n],
      [7_896_313_288n, 6_666_405_649n, 6_571_018_196n],
    ],
    ah: [
      [8_993_025_560n, 12n, 1_475_355_898n],
      [5_721_851_676n, 10n, 3_230_480_317n],
    ],
    hb: [
      [5n, 8_234_528_910n, 1n],
      [7n, 5_095_157_066n, 3n],
      [7n, 11_437_311_543n, 6n],
    ],
    af: [[8_076_940_466n, 7_625_219_869n, 4_375_066_016n]],
    fb: [[9_053_669_934n, 16_629_433_661n, 2_280_784_101n]],
    hf: [
      [9n, 9_076_144_013n, 4n],
      [9n, 13_858_100_676n, 8n],
    ],
  });
  expect(output).toBeGreaterThanOrEqual(2_563_746_023n);
});

test("an exact output is divided anew after a round that whole units made worse", () => {
  const input = inputFor(1_027_779_741n, {
    ab: [[9_044_218_413n, 14_682_567_741n, 5_625_978_392n]],
    ah: [[8_654_233_298n, 636n, 7_422_307_550n]],
    hb: [[787n, 6_882_595_515n, 122n]],
    af: [
      [4_977_148_394n, 4_686_201_172n, 126_304_218n],
      [1_069_641_815n, 939_192_991n, 651_529_895n],
    ],
    fb: [
      [6_003_148_671n, 7_765_734_502n, 1_263_653_345n],
      [9_286_370_954n, 15_481_976_559n, 720_099_455n],
      [5_617_239_361n, 8_520_346_012n, 2_212_881_141n],
    ],
    hf: [[219n, 3_579_493_535n, 52n]],
  });
  // After the round before it is 642,686,369.
  expect(input).toBeLessThan(631_000_000n);
});
