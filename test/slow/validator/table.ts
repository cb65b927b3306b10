import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";

interface Row {
  readonly part: string;
  readonly check: string;
  readonly measured: string;
  readonly faults: readonly string[];
}

/** Around the whole run: prints one table of what was checked on the validator. */
export default function printTable(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-validator-table-"));
  process.env.VALIDATOR_TABLE = join(folder, "rows.jsonl");
  return () => {
    const path = process.env.VALIDATOR_TABLE!;
    const rows = existsSync(path)
      ? readFileSync(path, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as Row)
      : [];
    if (rows.length > 0) process.stdout.write(`\n${format(rows)}\n\n`);
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Writes a row of the table, and fails the test if there are faults. */
export function report(part: string, check: string, measured: string, faults: readonly string[]): void {
  const row: Row = { part, check, measured, faults };
  if (process.env.VALIDATOR_TABLE !== undefined)
    appendFileSync(process.env.VALIDATOR_TABLE, `${JSON.stringify(row)}\n`);
  expect(faults, `${part}: ${check}`).toEqual([]);
}

function format(rows: readonly Row[]): string {
  const cells = rows.map(({ part, check, measured, faults }) => [
    faults.length === 0 ? "holds" : "FAILS",
    part,
    check,
    faults.length === 0 ? measured : `${measured}; ${faults[0]}${faults.length > 1 ? ` (+${faults.length - 1})` : ""}`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...cells.map((line) => line[column]!.length)));
  const held = rows.filter(({ faults }) => faults.length === 0).length;
  const lines = cells.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return [...lines, `${held} of ${rows.length} rows hold`].join("\n");
}
