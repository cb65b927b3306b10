import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { ACCOUNTS, LIVE_MARKETS, type LiveStateReport } from "./live-state.ts";
import { ms, report } from "./table.ts";

let child: ChildProcess | undefined;
afterAll(() => child?.kill("SIGKILL"));

it("50: bursts, forks, gaps and cuts of a hundred thousand markets stall nothing", async () => {
  child = fork(fileURLToPath(new URL("./live-state-process.ts", import.meta.url)), { execArgv: process.execArgv });
  const [{ phases, states, spare, marketsPerPair, warnings }] = (await once(child, "message")) as [LiveStateReport];
  expect(states).toEqual(Array(marketsPerPair).fill(states[0]));
  expect(spare).toBe(0);
  expect(warnings.filter((warning) => !/gap|is lost|did not replay/.test(warning))).toEqual([]);
  const busy = Object.entries(phases).filter(([name]) => name !== "rest");
  const ownMs = Math.max(...busy.map(([, turns]) => turns.ownMs));
  const pauseMs = Math.max(...Object.values(phases).map((turns) => turns.pauseMs));
  const each = Object.entries(phases).map(([name, turns]) => `${name} ${ms(turns.ownMs)} (${ms(turns.wholeMs)})`);
  report(
    50,
    `${ACCOUNTS} account changes in one slot, over Yellowstone; ${LIVE_MARKETS} live markets; a replaced bank, a gap, a cut`,
    "no throw, no turn of the loop above 20 ms of its thread's processor time beside the garbage collector's pauses; 5 ms at rest, sweeps and polls included",
    `slowest turn of each phase (with the collector's pauses): ${each.join(", ")}; slowest pause ${ms(pauseMs)} by the clock; every older version gone at the root`,
    ownMs <= 20 && phases.rest!.ownMs <= 5,
  );
});
