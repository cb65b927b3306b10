import { createHash } from "node:crypto";

/** Median time of one call in microseconds, over batches that even out the timer. */
export function medianMicros(call: () => void, calls: number): number {
  const batch = 20;
  for (let warm = 0; warm < calls / 4; warm++) call();
  const times: number[] = [];
  for (let done = 0; done < calls; done += batch) {
    const start = performance.now();
    for (let index = 0; index < batch; index++) call();
    times.push(((performance.now() - start) * 1000) / batch);
  }
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}

/** What everything is compared with, so that figures of different machines can be: SHA-256 of 1 KiB. Microseconds. */
export function referenceMicros(): number {
  const kibibyte = new Uint8Array(1024).fill(7);
  return medianMicros(() => createHash("sha256").update(kibibyte).digest(), 20_000);
}

export function micros(value: number): string {
  return `${value.toFixed(1)} µs`;
}
