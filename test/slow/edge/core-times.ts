import os from "node:os";

/** How much processor time the thread of a process's event loop had used by then. Milliseconds; the clock is the machine's, the same in every process. */
export interface CoreTime {
  readonly atMs: number;
  readonly usedMs: number;
}

/** The machine's monotonic clock, which processes have in common. Milliseconds. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Processor time of this thread so far. Milliseconds. */
export function usedMs(): number {
  // Linux brings a thread's own figure up to date when that of its process is asked for.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Leaves the processor to all others: for those who play a crowd, which in life computes on machines of its own. */
export function giveWay(): void {
  os.setPriority(os.constants.priority.PRIORITY_LOW);
}

/** Takes note, again and again, of the processor time this thread has used: what others use is no doing of its own. */
export class CoreTimes {
  #times: CoreTime[] = [];

  /** Notes it every millisecond, as far as the event loop turns. */
  watch(): void {
    setInterval(() => this.note(), 1);
  }

  note(): CoreTime {
    const time = { atMs: machineMs(), usedMs: usedMs() };
    this.#times.push(time);
    return time;
  }

  /** What was noted since the last time this was asked. */
  take(): CoreTime[] {
    const taken = this.#times;
    this.#times = [];
    return taken;
  }
}

/**
 * The processor time a thread used in a span of the machine's clock, at most: between two notes it may have been used at
 * any time.
 */
export function usedWithin(times: readonly CoreTime[], fromMs: number, toMs: number): number {
  let used = 0;
  for (let i = Math.max(1, firstAfter(times, fromMs)); i < times.length; i++) {
    const [before, after] = [times[i - 1]!, times[i]!];
    if (before.atMs >= toMs) break;
    const overlapMs = Math.min(toMs, after.atMs) - Math.max(fromMs, before.atMs);
    used += Math.min(after.usedMs - before.usedMs, overlapMs);
  }
  return used;
}

/**
 * For how long at a time a thread that takes note every millisecond was kept from its core while something went on: the longest span
 * between two notes that was not spent on the processor. A little over a millisecond where nothing kept it.
 */
export function heldUpMs(times: readonly CoreTime[], fromMs: number, toMs: number): number {
  let worst = 0;
  for (let i = Math.max(1, firstAfter(times, fromMs)); i < times.length; i++) {
    const [before, after] = [times[i - 1]!, times[i]!];
    if (before.atMs > toMs) break;
    worst = Math.max(worst, after.atMs - before.atMs - (after.usedMs - before.usedMs));
  }
  return worst;
}

/** The index of the first note later than a moment. */
function firstAfter(times: readonly CoreTime[], atMs: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]!.atMs > atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
