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
      if (reads === 2) throw new Error("no node answers");
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
  expect([...deployed.absent()]).toEqual([]);
  await settled();
  expect([...deployed.absent()]).toEqual(["gone"]);
  live.add(GONE);
  nowMs = 29_999;
  deployed.absent();
  await settled();
  expect(reads).toBe(1);
  nowMs = 30_000;
  deployed.absent();
  await settled();
  expect([...deployed.absent()]).toEqual(["gone"]);
  nowMs = 60_000;
  deployed.absent();
  await settled();
  expect([...deployed.absent()]).toEqual([]);
});
