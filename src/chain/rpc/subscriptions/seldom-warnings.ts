import type { Now } from "../../../primitives/clock.ts";

/** How long a repeated warning is suppressed. Milliseconds. */
const REPEAT_MS = 600_000;

/** Suppresses repeated warnings about nodes: a node that refuses a method refuses it for every account, trade and connection. */
export class SeldomWarnings {
  readonly #warn: (message: string) => void;
  readonly #now: Now;
  /** Until when each is not repeated. */
  readonly #untilMs = new Map<string, number>();

  constructor(warn: (message: string) => void, now: Now) {
    this.#warn = warn;
    this.#now = now;
  }

  /** @param reason may differ each time */
  warn(warning: string, reason: string): void {
    if ((this.#untilMs.get(warning) ?? 0) > this.#now()) return;
    this.#untilMs.set(warning, this.#now() + REPEAT_MS);
    this.#warn(`${warning}: ${reason}`);
  }
}
