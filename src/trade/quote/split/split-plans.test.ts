import { expect, test } from "vitest";
import { hubNetwork } from "../../../../test/support/hub-network.ts";
import { Address } from "../../../primitives/address.ts";
import type { Intent } from "../../intent.ts";
import { SplitPlan } from "./split-plans.ts";

const [A, B] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const AMOUNT = 1_500_000_000n;
const PATHS = 4;

/** Three equal markets; the last takes little. */
const { direct } = hubNetwork((pair) => {
  const reserves = [4_000_000_000n, 4_000_000_000n] as const;
  return pair === "ab" ? [{ reserves }, { reserves }, { reserves, most: 400_000_000n }] : [];
});
const intent = { inMint: { address: A }, outMint: { address: B }, mode: "exactOut", amount: AMOUNT } as Intent;

function newPlan(): SplitPlan {
  const terms = { inAmount: 40_000_000, outAmount: 39_000_000, maxLegs: 1, maxPaths: PATHS, clock: CLOCK };
  return SplitPlan.make({ ...intent, amount: 39_000_000n }, [{ from: A, to: B, pair: direct }], terms);
}

test("a plan made for another size forgets the divisions without some markets, and others use it once it is adopted", () => {
  const [plan, other] = [newPlan(), newPlan()];
  const left = new Set([direct.markets[0]!]);
  const small = plan.shapeWithout(PATHS, left);
  const resized = plan.resized(intent, 3_000_000_000)!;
  const large = other.resized(intent, 3_000_000_000)!.shapeWithout(PATHS, left);
  expect(resized.shapeWithout(PATHS, left)).toEqual(large);
  expect(large).not.toEqual(small);
  expect(plan.shapeWithout(PATHS, left)).toEqual(small);
  plan.adopt(resized, intent, PATHS);
  expect(plan.shapeWithout(PATHS, left)).toEqual(large);
});
