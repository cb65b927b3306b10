import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "vitest";

/** The result of one run of trades on one market, as the report reads it. */
export interface RunRecord {
  readonly venue: string;
  /** Titles of the test, outermost first. */
  readonly test: string;
  /** Trades requested, one after another on the same market. */
  readonly asked: number;
  readonly executed: number;
  readonly refused: number;
  /** Trades that failed, moved other amounts than quoted, or used more compute units than bounded. */
  readonly mismatches: number;
  readonly maxUnits: number;
  readonly worstUnitRatio: number;
  /** Trades by compute bound / use, in hundredths rounded up: what the percentiles over many runs are taken from. */
  readonly unitRatios: Readonly<Record<number, number>>;
  /** File of the program that ran; empty if it was not loaded from one. */
  readonly build: string;
  readonly maxBytes: number;
  /** Trades tried with a bound one unit too tight, and those of them refused as slippage. */
  readonly guards: number;
  readonly guardsHeld: number;
  /** The most memory that the process held until then. MiB. */
  readonly peakMib: number;
}

const started = new Set<string>();

/**
 * Keeps the result of a run for the report: one line of JSON in the test's own file, which each run of the test starts anew.
 * Does nothing unless `VENUE_RUNS` names a folder.
 */
export function recordRun(run: Omit<RunRecord, "test" | "peakMib">): void {
  const folder = process.env.VENUE_RUNS;
  const { testPath, currentTestName } = expect.getState();
  if (folder === undefined || testPath === undefined) return;
  const file = join(folder, `${basename(testPath, ".test.ts")}.jsonl`);
  if (!started.has(file)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, "");
    started.add(file);
  }
  const peakMib = Math.round(process.resourceUsage().maxRSS / 1024);
  const record: RunRecord = { ...run, test: currentTestName ?? "", peakMib };
  appendFileSync(file, `${JSON.stringify(record)}\n`);
}
