import { expect, test } from "vitest";
import { bestRouteOver, hubNetwork } from "../../../../test/support/hub-network.ts";
import { Address } from "../../../primitives/address.ts";
import type { Intent } from "../../intent.ts";
import { KeptFindings } from "./kept-findings.ts";
import type { MintCrossing } from "./network.ts";

const [ONE, OTHER] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte))) as [Address, Address];
const CLOCK = { slot: 1n, epoch: 1n, unixTimestamp: 1n };

test.each([0, 1, 3, 30, 48, 49, 50, 51, 52, 57, 63])(
  "trades of 2^%i base units share a finding only if legs, mode and direction are the same",
  (bits) => {
    const pair = { markets: [], faults: [], searched: [] };
    const findings = new KeptFindings<number>(() => undefined);
    const found: number[] = [];
    let made = 0;
    for (const [from, to] of [
      [ONE, OTHER],
      [OTHER, ONE],
    ] as const)
      for (const mode of ["exactIn", "exactOut"] as const)
        for (const maxLegs of [1, 2, 3]) {
          const intent = { inMint: { address: from }, outMint: { address: to }, mode } as Intent;
          const crossings: MintCrossing[] = [{ from, to, pair }];
          const recall = () => findings.recall(intent, crossings, { maxLegs, clock: CLOCK }, 2 ** bits, () => made++);
          expect(recall()).toBe(recall());
          found.push(recall());
        }
    expect(new Set(found).size).toBe(12);
  },
);

test("an exact output of a large amount is divided after an exact input that takes as much", () => {
  const unit = 10n ** 12n;
  const network = () =>
    hubNetwork((pair) =>
      pair === "ab" ? [1_000_000n, 900_000n, 800_000n].map((side) => ({ reserves: [side * unit, side * unit] })) : [],
    );
  const used = network();
  bestRouteOver(used, "exactIn", 250_000n * unit);
  const { inAmount } = bestRouteOver(used, "exactOut", 200_000n * unit);
  expect(inAmount).toBe(bestRouteOver(network(), "exactOut", 200_000n * unit).inAmount);
});
