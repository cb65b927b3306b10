import type { Now } from "../primitives/clock.ts";

/** Slots that are caught up after the process was paused; later ones are skipped. */
const MAX_LATE_SLOTS = 10;

/** What calls for the next slot until it is stopped. */
export interface SlotTimer {
  /** From the next slot on. Milliseconds. */
  setSlotMs(slotMs: number): void;
  stop(): void;
}

/** Calls `advance` every `firstSlotMs` milliseconds, or what is set later, without drifting. */
export function startSlotTimer(advance: () => void, firstSlotMs: number, now: Now): SlotTimer {
  let slotMs = firstSlotMs;
  let due = now() + slotMs;
  let timer = setTimeout(tick, slotMs);
  function tick(): void {
    advance();
    due += slotMs;
    const wait = due - now();
    if (wait < -MAX_LATE_SLOTS * slotMs) due = now();
    timer = setTimeout(tick, Math.max(0, wait));
  }
  return {
    setSlotMs(next) {
      slotMs = next;
    },
    stop: () => clearTimeout(timer),
  };
}
