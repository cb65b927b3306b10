import { createHash } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";

/** Processor time this process has used, on all of its threads. Microseconds. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Processor time of one call, over `calls` of them. Microseconds. */
export function cpuMicrosOf(call: () => void, calls: number): number {
  const before = cpuMicros();
  for (let done = 0; done < calls; done++) call();
  return (cpuMicros() - before) / calls;
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Median processor time of one call in microseconds, over a few dozen batches. */
export function medianMicros(call: () => void, calls: number): number {
  const batch = Math.max(20, Math.floor(calls / 30));
  for (let warm = 0; warm < calls / 4; warm++) call();
  const times: number[] = [];
  for (let done = 0; done < calls; done += batch) times.push(cpuMicrosOf(call, batch));
  return median(times);
}

const kibibyte = new Uint8Array(1024).fill(7);

/** What everything is compared with, so that figures of different machines can be. */
export function hashKibibyte(): void {
  createHash("sha256").update(kibibyte).digest();
}

/** Processor time of SHA-256 of 1 KiB. Microseconds. */
export function referenceMicros(): number {
  return medianMicros(hashKibibyte, 20_000);
}

export function micros(value: number): string {
  return `${value.toFixed(1)} µs`;
}

/** What else the machine was doing: figures of a busy machine are not comparable with those of a quiet one. */
export function machineLoad(): string {
  const [one, five] = loadavg() as [number, number];
  return `Load of the machine: ${one.toFixed(1)} over a minute, ${five.toFixed(1)} over five, on ${availableParallelism()} processors.`;
}

/** Rows under one another, in columns. */
export function table(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
