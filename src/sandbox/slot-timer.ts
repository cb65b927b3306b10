/** Longest delay that is caught up: timers of a busy process fire late. Milliseconds. */
const MOST_LATE_MS = 200;

/** What calls for the next slot until it is stopped. */
export interface SlotTimer {
  /** From the next slot on. Milliseconds. */
  setSlotMs(slotMs: number): void;
  stop(): void;
}

/**
 * Calls `advance` every `firstSlotMs` milliseconds, or what is set later, without drifting. Time in which the machine stands still is no
 * time of the chain: slots made up for it would cut short what lives for a number of them, and look like a faster pace. Nor does it matter
 * if the wall clock is set.
 */
export function startSlotTimer(advance: () => void, firstSlotMs: number): SlotTimer {
  let slotMs = firstSlotMs;
  let dueMs = performance.now() + slotMs;
  let timer = setTimeout(tick, slotMs);
  function tick(): void {
    advance();
    const atMs = performance.now();
    dueMs += slotMs;
    if (atMs - dueMs > Math.max(MOST_LATE_MS, slotMs)) dueMs = atMs + slotMs;
    timer = setTimeout(tick, Math.max(0, dueMs - atMs));
  }
  return {
    setSlotMs(next) {
      slotMs = next;
    },
    stop: () => clearTimeout(timer),
  };
}
