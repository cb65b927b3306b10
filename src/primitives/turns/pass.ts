import { nextTick } from "node:process";
import { monotonicMs } from "../clock.ts";

/** What is done for each call of a pass, one step for all of them before the next. */
export type Step = "serve" | "answer" | "write";

const STEPS = ["serve", "answer", "write"] as const satisfies readonly Step[];
/** Calls of a pass at most: more gain little. */
export const MOST_IN_PASS = 16;
/** What serving the calls of a pass may take: the first answer waits for the last call, as the rest of the process does. Milliseconds. */
const PASS_MS = 2;
/** How much of what serving a call took is forgotten with each pass that takes less. */
const FORGOTTEN = 1 / 4;

let entering: (() => void)[] = [];
let isOpen = false;
/** What serving a call takes, of late; unknown before the first pass, which is therefore of one call. Milliseconds. */
let serveMs = Number.POSITIVE_INFINITY;
const waiting: Record<Step, (() => void)[]> = { serve: [], answer: [], write: [] };

/**
 * Begins a call in the next pass: what one turn of the event loop has read is served after all of it is read, step by step, so that the
 * code and the data of a step stay in the processor's caches. A call in a turn of its own waits for nothing.
 *
 * @param enter the call's first step, which `inStep` adds the others in
 */
export function inNextPass(enter: () => void): void {
  if (entering.push(enter) === 1) setImmediate(runPasses);
}

/** Does this at its step of the pass; at once if there is none. */
export function inStep(step: Step, work: () => void): void {
  if (isOpen) waiting[step].push(work);
  else work();
}

/** Begins a pass by hand: steps wait until it is closed. */
export function openPass(): void {
  isOpen = true;
}

/** Calls that a pass may serve. */
function mostServed(): number {
  return Math.max(1, Math.min(MOST_IN_PASS, Math.floor(PASS_MS / serveMs)));
}

/** Does the steps of the open pass, those that they add included. */
export function closePass(): void {
  for (let step = firstStep(); step !== undefined; step = firstStep()) {
    const works = waiting[step];
    waiting[step] = [];
    if (step === "serve") serveAll(works);
    else for (const work of works) attempt(work);
  }
  isOpen = false;
}

function serveAll(works: readonly (() => void)[]): void {
  const startMs = monotonicMs();
  for (const work of works) attempt(work);
  const tookMs = (monotonicMs() - startMs) / works.length;
  serveMs = tookMs < serveMs && Number.isFinite(serveMs) ? serveMs + (tookMs - serveMs) * FORGOTTEN : tookMs;
}

function firstStep(): Step | undefined {
  return STEPS.find((step) => waiting[step].length > 0);
}

/** Runs the calls that wait for a pass now. @returns false if none does */
export function runPasses(): boolean {
  const all = entering;
  if (all.length === 0) return false;
  entering = [];
  for (let next = 0; next < all.length; ) {
    const end = Math.min(next + MOST_IN_PASS, all.length);
    openPass();
    do attempt(all[next++]!);
    while (next < end && waiting.serve.length < mostServed());
    closePass();
  }
  return true;
}

/** A fault of one call's is an uncaught exception as elsewhere, and none of the others'. */
function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    nextTick(() => {
      throw error;
    });
  }
}
