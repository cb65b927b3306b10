import { expect, test } from "vitest";
import { hubNetwork } from "../../../../../test/support/hub-network.ts";
import { Address } from "../../../../primitives/address.ts";
import type { SwapMode } from "../../../../venues/venue.ts";
import type { Intent } from "../../../intent.ts";
import { allAtOnce } from "../../long-searches.ts";
import type { Shape } from "../shapes/split-shape.ts";
import { SplitPlan } from "../split-plans.ts";
import type { Sizing } from "./sizing.ts";

const [A, B] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };
const PATHS = 4;

/** Three equal markets; the last takes little. */
const { direct } = hubNetwork((pair) => {
  const reserves = [4_000_000_000n, 4_000_000_000n] as const;
  return pair === "ab" ? [{ reserves }, { reserves }, { reserves, most: 400_000_000n }] : [];
});

/** The sizing of a plan for small trades that trades of about the size share, and one for a smaller trade alone. */
function sizings(mode: SwapMode): { readonly shared: Sizing; readonly less: Sizing } {
  const intent = { inMint: { address: A }, outMint: { address: B }, mode, amount: 39_000_000n } as Intent;
  const terms = { inAmount: 40_000_000, maxLegs: 1, clock: CLOCK };
  const plan = SplitPlan.make(intent, [{ from: A, to: B, pair: direct }], terms);
  const keep = function* (first: Sizing) {
    yield;
    return first;
  };
  return {
    shared: allAtOnce(plan.sharedSizing(intent, PATHS, keep))!,
    less: allAtOnce(plan.ownSizing({ ...intent, amount: 30_000_000n }, PATHS, keep)),
  };
}

const withoutFirst = (sizing: Sizing): Shape => {
  const shape = allAtOnce(sizing.shapeWithout(PATHS, new Set([direct.markets[0]!])));
  if (shape === undefined) throw new Error("no division without the first market");
  return shape;
};

const amountsOf = ({ flow, outAmount }: Shape) => ({ inputs: [...flow.inputs], outAmount });

test.each(["exactIn", "exactOut"] as const)(
  "divisions without some markets are those of the sizing, whatever others of the plan have found, %s",
  (mode) => {
    const [{ shared, less }, other] = [sizings(mode), sizings(mode)];
    const small = amountsOf(withoutFirst(shared));
    expect(amountsOf(withoutFirst(less))).toEqual(amountsOf(withoutFirst(other.less)));
    expect(amountsOf(withoutFirst(less))).not.toEqual(small);
    expect(amountsOf(withoutFirst(shared))).toEqual(small);
  },
);
