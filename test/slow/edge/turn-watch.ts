import { machineMs, usedMs } from "./core-times.ts";

/** A turn of the event loop: between which moments of the machine's clock, and the processor time of its thread. Milliseconds. */
export interface Turn {
  readonly fromMs: number;
  readonly toMs: number;
  readonly usedMs: number;
}

/** Turns below this are not noted. Milliseconds. */
const NOTED_MS = 0.5;

/** Notes each turn of the loop until it is stopped. */
export function watchTurns(): () => readonly Turn[] {
  const noted: Turn[] = [];
  let before = { atMs: machineMs(), usedMs: usedMs() };
  let next = setImmediate(function turn() {
    const now = { atMs: machineMs(), usedMs: usedMs() };
    const used = now.usedMs - before.usedMs;
    if (used > NOTED_MS) noted.push({ fromMs: before.atMs, toMs: now.atMs, usedMs: used });
    before = now;
    next = setImmediate(turn);
  });
  return () => {
    clearImmediate(next);
    return noted;
  };
}
