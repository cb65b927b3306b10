import { TradewireError } from "../../../../src/errors/tradewire-error.ts";
import type { Random } from "../../../../src/primitives/random.ts";

/** Longer than a claim is waited for, than a lease lasts, and than a message lives. Milliseconds. */
const FREEZES_MS = [300, 6_500, 12_000, 40_000, 80_000] as const;
const MOST_CUT_MS = 15_000;
/** How long a database that drops packets keeps a statement waiting. Milliseconds. */
const CONNECT_MS = 2_000;
const MOST_SLOW_MS = 4_000;

/** What befalls one process while the others go on: it stands still, or the database is slow or away for it alone. */
export class ProcessTroubles {
  readonly #random: Random;
  #frozenUntilMs = 0;
  #cutUntilMs = 0;
  #slowUntilMs = 0;
  #isSilent = false;

  constructor(random: Random) {
    this.#random = random;
  }

  get isFrozen(): boolean {
    return Date.now() < this.#frozenUntilMs;
  }

  /** True while the database is away for this process. */
  get isCut(): boolean {
    return Date.now() < this.#cutUntilMs;
  }

  /** Draws a trouble that is over by then (epoch milliseconds). @returns what it is, and when it is over */
  draw(latestMs: number): { readonly what: string; readonly untilMs: number } {
    const random = this.#random;
    const nowMs = Date.now();
    const until = (ms: number) => Math.min(nowMs + ms, latestMs);
    switch (random.pick(["freeze", "cut", "slow"] as const)) {
      case "freeze":
        this.#frozenUntilMs = until(random.pick(FREEZES_MS));
        return { what: "stands still", untilMs: this.#frozenUntilMs };
      case "cut":
        this.#cutUntilMs = until(200 + (random.u32() % MOST_CUT_MS));
        this.#isSilent = random.chance(0.5);
        return { what: "reaches no database", untilMs: this.#cutUntilMs };
      case "slow":
        this.#slowUntilMs = until(MOST_SLOW_MS + (random.u32() % MOST_CUT_MS));
        return { what: "has a slow database", untilMs: this.#slowUntilMs + MOST_SLOW_MS };
    }
  }

  /** Waits while the process stands still. */
  async thawed(): Promise<void> {
    while (this.isFrozen) await new Promise((resolve) => setTimeout(resolve, this.#frozenUntilMs - Date.now()));
  }

  /** On the way to the database. @throws TradewireError UPSTREAM_ERROR while it is away */
  async reach(): Promise<void> {
    await this.thawed();
    if (Date.now() < this.#slowUntilMs)
      await new Promise((resolve) => setTimeout(resolve, this.#random.u32() % MOST_SLOW_MS));
    if (!this.isCut) return;
    if (this.#isSilent) await new Promise((resolve) => setTimeout(resolve, CONNECT_MS));
    throw new TradewireError("UPSTREAM_ERROR", "The account database does not answer.");
  }
}
