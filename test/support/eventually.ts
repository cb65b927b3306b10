import { vi } from "vitest";

/** A test that waits this long has failed, on however slow a machine. Milliseconds. */
export const PATIENCE_MS = 300_000;

/** Repeats `check` until it no longer throws, and resolves with what it returned. @throws its last error after `PATIENCE_MS` */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: PATIENCE_MS, interval: 10 });
}
