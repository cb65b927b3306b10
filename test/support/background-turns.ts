import { vi } from "vitest";
import { background } from "../../src/primitives/turns/background.ts";

/** Pieces of background work that may follow one from another between two waits, and some more. */
const PIECES = 40;

/** Lets the work that nobody is in a hurry for go on until all of it waits for something else: its turns take no time of a test's own clock. */
export async function backgroundRested(): Promise<void> {
  for (let piece = 0; piece < PIECES; piece++) await background.next();
}

/** Lets the test's own clock advance in steps of `stepMs`, and the background work of each step end within it. */
export async function advanceResting(ms: number, stepMs = 10): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    await backgroundRested();
    await vi.advanceTimersByTimeAsync(Math.min(stepMs, left));
  }
}
