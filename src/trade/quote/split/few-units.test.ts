import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork, type NetworkPair } from "../../../../test/support/hub-network.ts";

/** Of each market both reserves, and the most that it takes. Base units. */
type Rows = readonly (readonly [bigint, bigint, bigint])[];

function inputFor(amount: bigint, rows: Readonly<Record<NetworkPair, Rows>>): bigint {
  const network = hubNetwork((pair) => rows[pair].map(([x, y, most]) => ({ reserves: [x, y], most })));
  return bestRouteOver(network, "exactOut", amount).inAmount;
}

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
