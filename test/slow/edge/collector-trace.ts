import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Turn } from "./turn-watch.ts";

/** The slowest turn of some: without and with what the engine's garbage collector took of it. Milliseconds of the thread's processor time. */
export interface SlowestTurn {
  readonly ownMs: number;
  readonly wholeMs: number;
}

/** Work of the collector on a process's own thread, by the machine's clock and by the thread's. Milliseconds. */
interface Work {
  readonly atMs: number;
  readonly endMs: number;
  readonly usedMs: number;
}

/** An entry of the engine's trace, in microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
}

/**
 * What the engine itself writes down of its collector's work in one process: pauses, and the steps of marking and sweeping that it
 * takes whenever so much has been allocated, which no performance entry reports. How long they take is the engine's doing, how
 * often they come ours.
 */
export class CollectorTrace {
  readonly #folder = mkdtempSync(join(tmpdir(), "tradewire-trace-"));

  /** Arguments of the process to trace; what it starts with the same ones is traced apart. */
  get execArgv(): readonly string[] {
    return [
      "--trace-event-categories=v8,disabled-by-default-v8.gc",
      `--trace-event-file-pattern=${this.#folder}/\${pid}-\${rotation}.json`,
    ];
  }

  /** The collector's work on the main thread of the process, which has ended; work within other work counts once. */
  read(pid: number): readonly Work[] {
    const files = readdirSync(this.#folder).filter((name) => name.startsWith(`${pid}-`));
    const events = files.flatMap((name) => {
      const { traceEvents } = JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as {
        traceEvents: TraceEvent[];
      };
      return traceEvents;
    });
    const isOwn = ({ name, ph, tid }: TraceEvent) => ph === "X" && tid === pid && /^V8\.GC/.test(name);
    const outermost: Work[] = [];
    for (const { ts, dur = 0, tdur = 0 } of events.filter(isOwn).sort((a, b) => a.ts - b.ts || b.dur! - a.dur!)) {
      const work = { atMs: ts / 1_000, endMs: (ts + dur) / 1_000, usedMs: tdur / 1_000 };
      if (work.atMs >= (outermost.at(-1)?.endMs ?? 0)) outermost.push(work);
    }
    return outermost;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The slowest turn with and that without the collector's work, which need not be the same. */
export function slowestOf(turns: readonly Turn[], collected: readonly Work[]): SlowestTurn {
  const ownMs = ({ fromMs, toMs, usedMs }: Turn) =>
    collected.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).reduce((left, work) => left - work.usedMs, usedMs);
  return {
    ownMs: Math.max(0, ...turns.map(ownMs)),
    wholeMs: Math.max(0, ...turns.map(({ usedMs }) => usedMs)),
  };
}
