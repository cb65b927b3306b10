import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** About what a claim appends before it waits for the disk. Bytes. */
const APPENDED = 4_096;

/**
 * What the disk takes to hold some bytes for good, where the bench keeps its databases: the floor of a first broadcast, which
 * waits for its claim. Milliseconds, in rising order.
 */
export async function fsyncTimes(count: number, everyMs: number): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), "tradewire-bench-"));
  const file = openSync(join(folder, "appended"), "a");
  const bytes = new Uint8Array(APPENDED).fill(7);
  const took: number[] = [];
  for (let i = 0; i < count; i++) {
    await sleep(everyMs);
    const startMs = performance.now();
    writeSync(file, bytes);
    fsyncSync(file);
    took.push(performance.now() - startMs);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  return took.sort((a, b) => a - b);
}
