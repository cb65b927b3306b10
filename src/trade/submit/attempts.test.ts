import { expect, it, vi } from "vitest";
import { LEASE_MS, land, rest, startProcess, submitOne, useSubmitWorld } from "../../../test/support/submit-world.ts";

const world = useSubmitWorld();
/** Time between renewals. Milliseconds. */
const PERIOD_MS = LEASE_MS / 4;

/** The messages of each renewal so far. */
function watchRenewals(): readonly (readonly string[])[] {
  const renewed: (readonly string[])[] = [];
  const { renew } = world.submissions;
  vi.spyOn(world.submissions, "renew").mockImplementation((hashes, lease) => {
    renewed.push([...hashes]);
    return renew(hashes, lease);
  });
  return renewed;
}

it("renews no claim that has just been made, and each one three times before its lease ends", async () => {
  const renewed = watchRenewals();
  const a = startProcess("a");
  await rest(PERIOD_MS - LEASE_MS / 8);
  await submitOne(a);
  const [old] = [...world.submissions.rows.keys()];
  await rest(LEASE_MS / 16);
  await submitOne(a);
  const [, young] = [...world.submissions.rows.keys()];
  await rest(LEASE_MS / 16);
  expect(renewed).toEqual([[old]]);
  await rest(3 * PERIOD_MS);
  expect(renewed).toEqual([[old], [old, young], [old, young], [old, young]]);
  expect(world.submissions.rows.get(young!)!.leaseUntilMs).toBeGreaterThan(Date.now() + LEASE_MS - PERIOD_MS);
});

it("renews a claim although the clock was set back after it", async () => {
  const renewed = watchRenewals();
  const a = startProcess("a");
  await rest(PERIOD_MS - 100);
  await submitOne(a);
  vi.setSystemTime(Date.now() - 3_600_000);
  await rest(100);
  expect(renewed[0]).toHaveLength(1);
});

it("renews no claim of a trade that has ended", async () => {
  const renewed = watchRenewals();
  const a = startProcess("a");
  const { trade } = await submitOne(a);
  land("a", trade.signature);
  await rest(LEASE_MS);
  expect(renewed.flat()).toEqual([]);
});
