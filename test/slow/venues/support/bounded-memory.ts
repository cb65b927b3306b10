/** Keeps a process of these tests small: between two tests it frees the runtimes that the first one made. */
import { afterEach } from "vitest";
import { releaseRuntimes } from "./runtimes.ts";

/** What a process may hold between two tests. Bytes. */
const MOST_BYTES = 1_500 * 1024 * 1024;

afterEach(async () => {
  await releaseRuntimes();
  const { rss } = process.memoryUsage();
  if (rss > MOST_BYTES)
    throw new Error(`the process holds ${rss >> 20} MiB after a test: something keeps its runtimes`);
});
