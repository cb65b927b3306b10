import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { CollectorTrace, slowestOf } from "./collector-trace.ts";
import { ACCOUNTS, LIVE_MARKETS, type LiveStateReport } from "./live-state.ts";
import { ms, report } from "./table.ts";

let trace: CollectorTrace | undefined;
let child: ChildProcess | undefined;
afterAll(() => {
  child?.kill("SIGKILL");
  trace?.remove();
});

it("50: bursts, forks, gaps and cuts of a hundred thousand markets stall nothing", async () => {
  trace = new CollectorTrace();
  const execArgv = [...process.execArgv, ...trace.execArgv];
  child = fork(fileURLToPath(new URL("./live-state-process.ts", import.meta.url)), { execArgv });
  const ended = once(child, "exit");
  const [{ phases, states, spare, marketsPerPair, warnings }] = (await once(child, "message")) as [LiveStateReport];
  await ended;
  expect(states).toEqual(Array(marketsPerPair).fill(states[0]));
  expect(spare).toBe(0);
  expect(warnings.filter((warning) => !/gap|is lost|did not replay/.test(warning))).toEqual([]);
  const collected = trace.read(child.pid!);
  expect(collected.length).toBeGreaterThan(0);
  const slowest = Object.entries(phases).map(([name, turns]) => ({ name, ...slowestOf(turns, collected) }));
  const each = slowest.map(({ name, ownMs, wholeMs }) => `${name} ${ms(ownMs)} (${ms(wholeMs)})`);
  report(
    50,
    `${ACCOUNTS} account changes in one slot, over Yellowstone; ${LIVE_MARKETS} live markets; a replaced bank, a gap, a cut`,
    "no throw, no turn of the loop above 20 ms of its thread's processor time beside the garbage collector's work on it; 5 ms at rest, sweeps and polls included",
    `slowest turn of each phase (with the collector's work): ${each.join(", ")}; every older version gone at the root`,
    slowest.every(({ name, ownMs }) => ownMs <= (name === "rest" ? 5 : 20)),
  );
});
