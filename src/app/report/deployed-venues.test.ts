import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { DeployedVenues } from "./deployed-venues.ts";

const [HERE, GONE] = [1, 2].map((byte) => Address.from(new Uint8Array(32).fill(byte)));

test("a venue whose programs are all missing is absent, until they are deployed", async () => {
  let [nowMs, reads] = [0, 0];
  const live = new Set([HERE]);
  const reader = {
    async fetchAccounts(addresses: readonly Address[]) {
      reads++;
      if (reads === 1 || reads === 3) throw new Error("no node answers");
      const accounts = addresses.map((address) => (live.has(address) ? ({ address } as never) : null));
      return { slot: 1n, accounts };
    },
  };
  const venues = [
    { id: "here", programs: [HERE!] },
    { id: "gone", programs: [GONE!] },
    { id: "half", programs: [HERE!, GONE!] },
  ];
  const deployed = new DeployedVenues(reader, venues, () => nowMs);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  // Nothing is said of any before the first answer; until then the chain is asked each second.
  for (nowMs of [0, 999, 1_000]) {
    expect(deployed.absent()).toBeUndefined();
    await settled();
  }
  expect(reads).toBe(2);
  expect([...deployed.absent()!]).toEqual(["gone"]);
  live.add(GONE);
  nowMs = 30_999;
  deployed.absent();
  await settled();
  expect(reads).toBe(2);
  nowMs = 31_000;
  deployed.absent();
  await settled();
  expect([reads, ...deployed.absent()!]).toEqual([3, "gone"]);
  nowMs = 61_000;
  deployed.absent();
  await settled();
  expect([...deployed.absent()!]).toEqual([]);
});
