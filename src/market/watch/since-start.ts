/** Counts times from the first one that it is asked about: in whole milliseconds, rounded down, by a clock of milliseconds since 1970. */
export function countFromFirst(): (epochMs: number) => number {
  let firstMs: number | undefined;
  return (epochMs) => {
    firstMs ??= epochMs;
    return Math.floor(epochMs - firstMs);
  };
}

/**
 * Whole milliseconds since the market layer's first look at the clock. The engine keeps small integers in the objects that hold them.
 * Epoch milliseconds are objects of their own, which of an account not used lately are one more miss of the processor's caches.
 */
export const sinceStart = countFromFirst();
