/**
 * Keeps a process of these tests small. The runtimes that a test leaves behind are native memory, tens of MiB each, which the
 * garbage collector does not see: it would not run for hundreds of tests.
 */
import { setImmediate as turn } from "node:timers/promises";
import { afterEach } from "vitest";

/** What a process may hold between two tests. Bytes. */
const MOST_BYTES = 1_500 * 1024 * 1024;

afterEach(async () => {
  globalThis.gc?.();
  // Native memory is given back by finalizers, which run on the next turn.
  await turn();
  const { rss } = process.memoryUsage();
  if (rss > MOST_BYTES)
    throw new Error(`the process holds ${rss >> 20} MiB after a test: something keeps its runtimes`);
});
