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
  const terms = { inAmount: 40_000_000, outAmount: 39_000_000, maxLegs: 1, clock: CLOCK };
  return SplitPlan.make({ ...intent, amount: 39_000_000n }, [{ from: A, to: B, pair: direct }], terms);
}

test("a plan that is made for another size forgets the divisions without some markets", () => {
  const [resized, fresh] = [newPlan(), newPlan()];
  const left = new Set([direct.markets[0]!]);
  const small = resized.shapeWithout(PATHS, left);
  const undo = resized.resize(intent, 3_000_000_000)!;
  fresh.resize(intent, 3_000_000_000);
  expect(resized.shapeWithout(PATHS, left)).toEqual(fresh.shapeWithout(PATHS, left));
  expect(resized.shapeWithout(PATHS, left)).not.toEqual(small);
  undo();
  expect(resized.shapeWithout(PATHS, left)).toEqual(small);
});
