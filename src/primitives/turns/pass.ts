import { nextTick } from "node:process";
import { monotonicMs } from "../clock.ts";

/** The steps of a call. A pass takes all of its calls through one step before the next. */
export type Step = "serve" | "answer" | "write";

const STEPS = ["serve", "answer", "write"] as const satisfies readonly Step[];
/** Upper bound of calls in a pass: more of them gain little. */
export const MOST_IN_PASS = 16;
/** Time in which a pass may serve its calls: the first answer waits for the last call. Milliseconds. */
const PASS_MS = 2;
/** Time after which a turn begins no further pass: the calls that are left wait for the next turn. Milliseconds. */
const TURN_MS = 5;
/** Weight of a pass that was faster than the measure so far; a slower one counts in full. */
const FORGOTTEN = 1 / 4;

/** Calls of one caller: most have one at a time. */
type Line = (() => void) | (() => void)[];
/** Calls that wait for a pass, by caller. A caller whose call was taken goes to the end. */
type Lines = Map<object, Line>;

let entering: Lines = new Map();
let nextTurn: NodeJS.Immediate | undefined;
let isOpen = false;
/** Recent time to serve a call; infinite before the first pass, which therefore has one call. Milliseconds. */
let serveMs = Number.POSITIVE_INFINITY;
/** Work at its step: the method of that name. It is the call's own object, so that no step takes a closure. */
export type Work<S extends Step> = { readonly [step in S]: () => void };

/** The work at a step of the open pass: what waits stands at the first places. Lists serve every pass, since each would grow by its own. */
interface Waiting<S extends Step> {
  readonly works: (Work<S> | undefined)[];
  count: number;
}

const waiting: { readonly [S in Step]: Waiting<S> } = {
  serve: { works: [], count: 0 },
  answer: { works: [], count: 0 },
  write: { works: [], count: 0 },
};

/**
 * Begins a call in the next pass. All that one turn of the event loop reads is served together, step by step, so that the code and
 * the data of a step stay in the processor's caches. A call that is alone in its turn waits for nothing. If a turn has no time for
 * all calls, the rest wait for later turns: those of one caller in their order, callers in turn.
 *
 * @param caller the connection of the call
 * @param enter the call's first step; it adds the others by `inStep`
 */
export function inNextPass(caller: object, enter: () => void): void {
  if (entering.size === 0) nextTurn = setImmediate(runPasses);
  const line = entering.get(caller);
  if (line === undefined) entering.set(caller, enter);
  else if (typeof line === "function") entering.set(caller, [line, enter]);
  else line.push(enter);
}

/** Does the work at its step of the open pass, or at once if none is open. */
export function inStep<S extends Step>(step: S, work: Work<S>): void {
  if (!isOpen) {
    work[step]();
    return;
  }
  const at: Waiting<S> = waiting[step];
  at.works[at.count++] = work;
}

/** Opens a pass: the work of steps waits until it is closed. */
export function openPass(): void {
  isOpen = true;
}

/** Calls of a pass at most. */
function mostServed(): number {
  return Math.max(1, Math.min(MOST_IN_PASS, Math.floor(PASS_MS / serveMs)));
}

/** Does the work of the open pass, step by step, including what it adds meanwhile. */
export function closePass(): void {
  for (let step = firstStep(); step !== undefined; step = firstStep()) doAll(step);
  isOpen = false;
}

function doAll<S extends Step>(step: S): void {
  const at: Waiting<S> = waiting[step];
  const { works, count } = at;
  const startMs = step === "serve" ? monotonicMs() : 0;
  for (let place = 0; place < count; place++) {
    try {
      works[place]![step]();
    } catch (error) {
      throwLater(error);
    }
  }
  // What was added meanwhile waits for the next time. Nothing keeps what is done.
  const left = at.count - count;
  for (let place = 0; place < left; place++) works[place] = works[count + place];
  for (let place = left; place < at.count; place++) works[place] = undefined;
  at.count = left;
  if (step === "serve") noteTime((monotonicMs() - startMs) / count);
}

function noteTime(tookMs: number): void {
  serveMs = tookMs < serveMs && Number.isFinite(serveMs) ? serveMs + (tookMs - serveMs) * FORGOTTEN : tookMs;
}

function firstStep(): Step | undefined {
  return STEPS.find((step) => waiting[step].count > 0);
}

/** Runs the waiting calls now, as many as a turn has time for. @returns false if none waits */
export function runPasses(): boolean {
  // Background work may run them before that.
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
  for (const [caller, line] of later) for (const enter of [line].flat()) inNextPass(caller, enter);
  return true;
}

/** Runs one pass with the first call of each caller, and removes them. @param untilMs only the first call enters after this time */
function runPass(lines: Lines, untilMs: number): void {
  let left = MOST_IN_PASS;
  openPass();
  for (const caller of lines.keys()) {
    const line = lines.get(caller)!;
    const enter = typeof line === "function" ? line : line.shift()!;
    lines.delete(caller);
    // At the end, so that its next call follows the first calls of the others.
    if (typeof line !== "function" && line.length > 0) lines.set(caller, line);
    try {
      enter();
    } catch (error) {
      throwLater(error);
    }
    if (--left === 0 || waiting.serve.count >= mostServed() || monotonicMs() >= untilMs) break;
  }
  closePass();
}

/** An error of one call becomes an uncaught exception, as elsewhere, and does not stop the others. */
function throwLater(error: unknown): void {
  nextTick(() => {
    throw error;
  });
}
