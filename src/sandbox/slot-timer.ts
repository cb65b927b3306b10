import type { Now } from "../primitives/clock.ts";

/** Slots that may be caught up after a pause of the process; what is later than that is let go. */
const MAX_LATE_SLOTS = 10;

export interface SlotTimer {
  stop(): void;
}

/** Calls `advance` every `slotMs` milliseconds, without drifting. */
export function startSlotTimer(advance: () => void, slotMs: number, now: Now): SlotTimer {
  let due = now() + slotMs;
  let timer = setTimeout(tick, slotMs);
  function tick(): void {
    advance();
    due += slotMs;
    const wait = due - now();
    if (wait < -MAX_LATE_SLOTS * slotMs) due = now();
    timer = setTimeout(tick, Math.max(0, wait));
  }
  return { stop: () => clearTimeout(timer) };
}
