/** Loaded into a service: answers every message of the process that started it with the memory it holds after a full collection. */
import { isMainThread } from "node:worker_threads";
import type { HeldMemory } from "./held-memory.ts";

// The service's own threads load it too.
if (isMainThread) {
  process.on("message", () => {
    // Once more for what finalizers have let go of.
    for (let i = 0; i < 2; i++) gc!();
    const { heapUsed, external, rss } = process.memoryUsage();
    process.send!({ liveBytes: heapUsed + external, residentBytes: rss } satisfies HeldMemory);
  });
  // The service ends when it would without the probe.
  process.channel!.unref();
}
