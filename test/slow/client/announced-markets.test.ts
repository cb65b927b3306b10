import { expect, test } from "vitest";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { verifyTransaction } from "../../../src/client/verify/verify-transaction.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { buildSample, sampleVenues } from "./sample-builds.ts";

/** True if the build would be signed as the trade over these markets. */
function isAccepted(
  { wallet, order, answer, decimals, lookupTables, wire }: HonestBuild,
  route = answer.route,
): boolean {
  try {
    const expected = expectTrade(wallet, order, { ...answer, route }, { decimals }, "caller");
    verifyTransaction(wire, expected, { lookupTables });
    return true;
  } catch {
    return false;
  }
}

test("no market of a route can be announced under another's address, on any venue", async () => {
  const random = createRandom(20261128);
  for (const venue of sampleVenues) {
    let build: HonestBuild | undefined;
    while (build === undefined) build = await buildSample(random, venue);
    expect(isAccepted(build), venue).toBe(true);
    for (const at of build.answer.route.keys()) {
      const market = Address.from(random.bytes(32)).toString();
      const route = build.answer.route.map((leg, index) => (index === at ? { ...leg, market } : leg));
      expect([venue, isAccepted(build, route)]).toEqual([venue, false]);
    }
  }
});

test("no account that a swap names beside its market passes for it, on any venue", async () => {
  const random = createRandom(510_800);
  for (const venue of sampleVenues) {
    let build: HonestBuild | undefined;
    while (build === undefined) build = await buildSample(random, venue);
    const { answer, wire, lookupTables } = build;
    const [leg, ...others] = answer.route;
    const announced = Address.of(leg!.market);
    const accepted = readTransaction(wire, lookupTables).accounts.filter(
      ({ address }) => address !== announced && isAccepted(build, [{ ...leg!, market: address.toString() }, ...others]),
    );
    expect([venue, accepted.map(({ address }) => address.toString())]).toEqual([venue, []]);
  }
});
