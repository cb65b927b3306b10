import type { Now } from "../../../primitives/clock.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { StreamProgress } from "./stream-progress.ts";

interface StreamSuspensionOptions {
  readonly followed: FollowedAccounts;
  readonly stream: StreamProgress;
  readonly now: Now;
  readonly warn: (message: string) => void;
}

/** Duration of the first suspension; each further one lasts twice as long as the one before. Milliseconds. */
const FIRST_MS = 10_000;
const LONGEST_MS = 3_600_000;
/** A stream that was right for this long after a suspension starts afresh. Milliseconds. */
const FORGIVEN_MS = 3_600_000;

/**
 * A stream that most nodes contradict, with no other to switch to: for a while its account reports are discarded, and state comes from
 * reads alone.
 */
export class StreamSuspension {
  readonly #options: StreamSuspensionOptions;
  #untilMs = Number.NEGATIVE_INFINITY;
  #lastMs = 0;
  #isOn = false;

  constructor(options: StreamSuspensionOptions) {
    this.#options = options;
  }

  /** True while nothing that the stream reports of accounts counts. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /**
   * The stream was found wrong. If it is suspended already, the suspension starts again: the stream must be right for its whole duration.
   */
  begin(): void {
    const { followed, now, warn } = this.#options;
    const atMs = now();
    if (this.#isOn) {
      this.#untilMs = atMs + this.#lastMs;
      followed.distrustUntil(this.#untilMs);
      return;
    }
    const isAgain = atMs < this.#untilMs + FORGIVEN_MS;
    this.#lastMs = isAgain ? Math.min(2 * this.#lastMs, LONGEST_MS) : FIRST_MS;
    this.#untilMs = atMs + this.#lastMs;
    this.#isOn = true;
    followed.distrustUntil(this.#untilMs);
    warn(`The stream of accounts is wrong, and there is no other: accounts are read for ${this.#lastMs / 1_000} s.`);
  }

  /** Ends a suspension whose time is over: what was discarded meanwhile must be read first. */
  tick(): void {
    const { followed, stream, now } = this.#options;
    if (!this.#isOn || now() < this.#untilMs) return;
    this.#isOn = false;
    const { slot } = stream;
    followed.upset((standing) => {
      standing.streamed = false;
      // Of the newest slot a part was discarded.
      if (standing.coveredFrom !== undefined && standing.coveredFrom <= slot) standing.coveredFrom = slot + 1n;
    });
  }
}
