import type { Now } from "../../primitives/clock.ts";
import type { ChainClock } from "../../solana/account.ts";
import { CLOCK_SYSVAR } from "../../solana/programs.ts";
import type { RpcPool } from "../rpc/rpc-pool.ts";
import type { ChainTime } from "./chain-time.ts";
import { type ClockAnswer, decodeClock } from "./head-answers.ts";
import { MAX_LAG_SLOTS, type NewestSlot, PROCESSED_LAG_SLOTS } from "./newest-slot.ts";
import { UnfollowedSlot } from "./unfollowed-slot.ts";

interface NewestClockOptions {
  readonly pool: Pick<RpcPool, "read">;
  readonly now: Now;
  readonly newest: NewestSlot;
  readonly time: ChainTime;
  /** Maximum age of a clock that is answered while the chain moves. Milliseconds. */
  readonly maxAgeMs: number;
  /** Longest pause of the chain during which its clock counts as current. Milliseconds. */
  readonly maxPauseMs: number;
  /** The newest slot may not exist: no node follows it. */
  readonly onUnfollowed: () => Promise<void>;
}

/** The newest clock of the chain: epoch, slot and time of its newest bank, as some node shows it. */
export class NewestClock {
  readonly #options: NewestClockOptions;
  readonly #unfollowed = new UnfollowedSlot();
  #clock: ChainClock | undefined;
  #askedAtMs = 0;
  #shownAtMs = 0;
  #reads = 0;

  constructor(options: NewestClockOptions) {
    this.#options = options;
  }

  /** Undefined before the first. */
  get clock(): ChainClock | undefined {
    return this.#clock;
  }

  /** When a node that showed nothing newer than the newest slot was last asked (epoch milliseconds). */
  get shownAtMs(): number {
    return this.#shownAtMs;
  }

  /** Time since the clock was requested; if the chain pauses for too long, the pause, if longer. Milliseconds. */
  ageMs(): number {
    const { now, newest, maxPauseMs } = this.#options;
    const pausedMs = newest.ageMs();
    return Math.max(now() - this.#askedAtMs, pausedMs > maxPauseMs ? pausedMs : 0);
  }

  isStale(): boolean {
    return this.#clock === undefined || this.ageMs() > this.#options.maxAgeMs;
  }

  /** Whatever was known is wrong. */
  forget(): void {
    this.#clock = undefined;
  }

  /** @throws NodeError if no node answers with a credible clock */
  async refresh(): Promise<void> {
    const { pool, now, newest, maxPauseMs, onUnfollowed } = this.#options;
    const askedAtMs = now();
    const known = { slot: newest.slot, ageMs: newest.ageMs() };
    const params = [[CLOCK_SYSVAR.toString()], { encoding: "base64", commitment: "processed" }];
    const result = await pool.read("getMultipleAccounts", params, {
      // A different node each time, so that the slot of each is known.
      startAt: this.#reads++,
      isWrong: (answer) => this.#isWrong(decodeClock(answer)),
    });
    const { readAt, clock } = decodeClock(result);
    newest.noteBegun(readAt);
    if (this.#unfollowed.note(readAt, known, newest.slotMs)) await onUnfollowed();
    const isNewest = readAt + PROCESSED_LAG_SLOTS >= newest.slot;
    if (isNewest) this.#shownAtMs = askedAtMs;
    if (this.#clock !== undefined && clock.slot <= this.#clock.slot) {
      // The chain pauses: its clock is the newest there is.
      const isPause = isNewest && clock.slot === this.#clock.slot && newest.ageMs() <= maxPauseMs;
      if (isPause) this.#askedAtMs = askedAtMs;
      return;
    }
    this.#clock = clock;
    this.#askedAtMs = askedAtMs;
  }

  /**
   * A clock is that of the slot it was read at, or of one shortly before; or just after, since a node may read accounts later than it
   * takes the slot that its answer names. The time of a clock that is not newer does not matter.
   *
   * @see https://github.com/anza-xyz/agave/issues/4807
   */
  #isWrong({ readAt, clock }: ClockAnswer): boolean {
    const { newest, time } = this.#options;
    const isOfThatSlot = clock.slot <= readAt + PROCESSED_LAG_SLOTS && clock.slot + MAX_LAG_SLOTS >= readAt;
    if (newest.isOff(readAt) || !isOfThatSlot) return true;
    const isNew = this.#clock === undefined || clock.slot > this.#clock.slot;
    return isNew && time.isOff(clock);
  }
}
