import { nextTick } from "node:process";
import { monotonicMs } from "../clock.ts";

/** What is done for each call of a pass, one step for all of them before the next. */
export type Step = "serve" | "answer" | "write";

const STEPS = ["serve", "answer", "write"] as const satisfies readonly Step[];
/** Calls of a pass at most: more gain little. */
export const MOST_IN_PASS = 16;
/** What serving the calls of a pass may take: the first answer waits for the last call, as the rest of the process does. Milliseconds. */
const PASS_MS = 2;
/** What the passes of one turn may take: no further one begins after it. Calls that are left wait for the next turn. Milliseconds. */
const TURN_MS = 5;
/** How much of what serving a call took is forgotten with each pass that takes less. */
const FORGOTTEN = 1 / 4;

/** Calls that wait for a pass, by whose they are: who has one more goes behind all others. */
type Lines = Map<object, (() => void)[]>;

let entering: Lines = new Map();
let nextTurn: NodeJS.Immediate | undefined;
let isOpen = false;
/** What serving a call takes, of late; unknown before the first pass, which is therefore of one call. Milliseconds. */
let serveMs = Number.POSITIVE_INFINITY;
const waiting: Record<Step, (() => void)[]> = { serve: [], answer: [], write: [] };

/**
 * Begins a call in a pass to come: what one turn of the event loop has read is served after all of it is read, step by step, so that the
 * code and the data of a step stay in the processor's caches. A call in a turn of its own waits for nothing. Of more calls than a turn
 * has time for, the rest wait for the next ones: those of one caller in their order, callers in turn.
 *
 * @param caller whose call it is: its connection
 * @param enter the call's first step, which `inStep` adds the others in
 */
export function inNextPass(caller: object, enter: () => void): void {
  if (entering.size === 0) nextTurn = setImmediate(runPasses);
  const line = entering.get(caller);
  if (line === undefined) entering.set(caller, [enter]);
  else line.push(enter);
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

/** Runs the calls that wait for a pass now, as many as a turn has time for. @returns false if none does */
export function runPasses(): boolean {
  // Called before that, this has taken its turn.
  clearImmediate(nextTurn);
  const lines = entering;
  if (lines.size === 0) return false;
  entering = new Map();
  const untilMs = monotonicMs() + TURN_MS;
  do runPass(lines, untilMs);
  while (lines.size > 0 && monotonicMs() < untilMs);
  if (lines.size === 0) return true;
  const later = entering;
  if (later.size === 0) nextTurn = setImmediate(runPasses);
  entering = lines;
  for (const [caller, calls] of later) for (const enter of calls) inNextPass(caller, enter);
  return true;
}

/** Runs one pass of the first calls of each line, and removes them. @param untilMs no call enters after it, but the first */
function runPass(lines: Lines, untilMs: number): void {
  let left = MOST_IN_PASS;
  openPass();
  // A line that is put back comes up again after the others.
  for (const [caller, line] of lines) {
    const enter = line.shift()!;
    lines.delete(caller);
    if (line.length > 0) lines.set(caller, line);
    attempt(enter);
    if (--left === 0 || waiting.serve.length >= mostServed() || monotonicMs() >= untilMs) break;
  }
  closePass();
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
