import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PROCESSES = 2;
/** Bounds the memory of a process. MiB. */
const MOST_HEAP = 1_024;

/**
 * Runs a part for each seed in a process of its own, two at a time: programs that ran millions of times keep memory, which ends
 * with their process. The file prints its report as JSON.
 *
 * @param file beside this one @param terms arguments after the seed
 */
export async function runInParts<Report>(
  file: string,
  seeds: readonly number[],
  terms: readonly number[],
  onPart: (seed: number, report: Report) => void,
): Promise<readonly Report[]> {
  const run = fileURLToPath(new URL(file, import.meta.url));
  const left = [...seeds];
  const reports: Report[] = [];
  const work = async () => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const given = [`--max-old-space-size=${MOST_HEAP}`, run, ...[seed, ...terms].map(String)];
      const { stdout } = await promisify(execFile)(process.execPath, given, { maxBuffer: 1 << 26 });
      const report = JSON.parse(stdout) as Report;
      reports.push(report);
      onPart(seed, report);
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, work));
  return reports;
}
