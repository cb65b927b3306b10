import { setImmediate as turn } from "node:timers/promises";

/**
 * Frees the runtimes that nothing refers to. They are native memory, tens of MiB each, which the garbage collector does not
 * see: by itself it would not run for hundreds of them.
 */
export async function releaseRuntimes(): Promise<void> {
  globalThis.gc?.();
  // Native memory is given back by finalizers, which run on the next turn.
  await turn();
}
