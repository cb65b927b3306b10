import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { usedMs } from "./core-times.ts";

/** The turns of the event loop in one phase, by processor time of its thread. Milliseconds. */
export interface WatchedTurns {
  /** The slowest turn, without the pauses of the garbage collector within it. */
  readonly ownMs: number;
  /** The slowest turn, whatever it was spent on. */
  readonly wholeMs: number;
  /** The slowest pause, by the clock, and how many there were above 5 ms. */
  readonly pauseMs: number;
  readonly longPauses: number;
  readonly turns: number;
}

interface Turn {
  readonly fromMs: number;
  readonly toMs: number;
  readonly usedMs: number;
}

/** Pauses so far: how long one takes is the engine's doing, how much there is to collect ours. */
const pauses: PerformanceEntry[] = [];
new PerformanceObserver((list) => void pauses.push(...list.getEntries())).observe({ entryTypes: ["gc"] });

/** Turns below this are not noted. Milliseconds. */
const NOTED_MS = 1;
/** Pauses are reported a little after they end. Milliseconds. */
const REPORT_MS = 100;

/** Notes each turn of the loop until it is stopped. */
export function watchTurns(): () => Promise<WatchedTurns> {
  const noted: Turn[] = [];
  let turns = 0;
  const startMs = performance.now();
  let before = { atMs: startMs, usedMs: usedMs() };
  let next = setImmediate(function turn() {
    const now = { atMs: performance.now(), usedMs: usedMs() };
    turns += 1;
    const used = now.usedMs - before.usedMs;
    if (used > NOTED_MS) noted.push({ fromMs: before.atMs, toMs: now.atMs, usedMs: used });
    before = now;
    next = setImmediate(turn);
  });
  return async () => {
    clearImmediate(next);
    const endMs = performance.now();
    await sleep(REPORT_MS);
    const within = pauses.filter(({ startTime }) => startTime >= startMs && startTime < endMs);
    return {
      ownMs: Math.max(0, ...noted.map((turn) => ownMs(turn, within))),
      wholeMs: Math.max(0, ...noted.map((turn) => turn.usedMs)),
      pauseMs: Math.max(0, ...within.map(({ duration }) => duration)),
      longPauses: within.filter(({ duration }) => duration > 5).length,
      turns,
    };
  };
}

function ownMs(turn: Turn, pausesOfAll: readonly PerformanceEntry[]): number {
  const own = pausesOfAll.filter(({ startTime }) => startTime >= turn.fromMs && startTime < turn.toMs);
  return turn.usedMs - own.reduce((sum, { duration }) => sum + duration, 0);
}
