import { expect, test } from "vitest";
import { steadyClock } from "../../primitives/clock.ts";
import { describeStatus } from "./service-status.ts";

test("ages are whole milliseconds, also after the wall clock was set back", () => {
  let wallMs = 1_800_000_000_000;
  let elapsedMs = 0.25;
  const steadyMs = steadyClock(
    () => wallMs,
    () => elapsedMs,
  );
  const searchedAtMs = steadyMs();
  wallMs -= 3_600_000;
  elapsedMs += 1_500.5;
  const head = { slot: () => 5n, blockHeight: () => 4n, slotMs: () => 400, slotAgeMs: () => steadyMs() - searchedAtMs };
  const parts = {
    head,
    witnesses: { trusted: undefined, quorum: () => 1 },
    markets: { report: () => [{ id: "a", markets: 1, lastSearch: { ok: true, atMs: searchedAtMs } }] },
    senders: [],
    shadow: undefined,
    location: { embedded: undefined },
    health: { canBuild: () => true },
    network: "devnet",
    deployed: { absent: () => new Set() },
    recent: undefined,
  };
  const { chain, venues } = describeStatus({ steadyMs, wallMs: () => wallMs } as never, parts as never);
  expect([chain.slotAgeMs, venues[0]!.searchAgeMs]).toEqual([1_501, 1_501]);
});
