import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
// Processes of the rows keep their compiled code for one another: half of a start, and there are three hundred.
import "../../../src/process/compile-cache.js";

interface Row {
  readonly number: number;
  readonly promise: string;
  readonly target: string;
  readonly measured: string;
  readonly holds: boolean;
}

/** Around the whole run, of whichever projects: prints each row of docs/promises.md with its target and what was measured. */
export default function printTable(): (() => void) | undefined {
  if (process.env.EDGE_TABLE !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "tradewire-edge-"));
  process.env.EDGE_TABLE = join(folder, "rows.jsonl");
  return () => {
    const path = process.env.EDGE_TABLE!;
    const rows = existsSync(path)
      ? readFileSync(path, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Row)
          .sort((a, b) => a.number - b.number)
      : [];
    const lines = rows.map(
      ({ number, promise, target, measured, holds }) =>
        `${holds ? "  " : "✗ "}${number}  ${promise}\n      target    ${target}\n      measured  ${measured}`,
    );
    process.stdout.write(`\n${lines.join("\n")}\n\n`);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Writes a row of the table, and fails the test when the promise does not hold. */
export function report(number: number, promise: string, target: string, measured: string, holds: boolean): void {
  const row: Row = { number, promise, target, measured, holds };
  if (process.env.EDGE_TABLE !== undefined) appendFileSync(process.env.EDGE_TABLE, `${JSON.stringify(row)}\n`);
  expect(row).toMatchObject({ holds: true });
}

/** The value below which this share of the values lie. */
export function percentile(values: ArrayLike<number>, share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`;
