/** If no slot follows the newest one within this time while the chain goes on below it, it does not exist. Milliseconds. */
const UNFOLLOWED_MS = 1_000;
/** More slots than a node is late by: what goes on for as many is the chain, whatever was reported above it. */
const LONGEST_DELAY = 512n;

/** The newest slot that a stream has reported. A slot far ahead, by an error or a lie, is retracted when the chain goes on below it. */
export class NewestReported {
  #slot = 0n;
  #atMs = 0;
  /** The newest below it. */
  #second = 0n;
  /** The first that began below the newest since that was reported. */
  #below: bigint | undefined;

  /** 0 before the first. */
  get slot(): bigint {
    return this.#slot;
  }

  /** When it was last reported (epoch milliseconds). */
  get atMs(): number {
    return this.#atMs;
  }

  /** @param isBelow true if the slot, if it is older than the newest one, shows that the chain goes on there */
  note(slot: bigint, atMs: number, isBelow: boolean): void {
    if (slot < this.#slot) {
      if (!isBelow) return;
      this.#below ??= slot;
      // It may be of an old branch, which its node comes to late.
      if (slot <= this.#second && slot < this.#below + LONGEST_DELAY) return;
      this.#second = slot;
      if (atMs - this.#atMs <= UNFOLLOWED_MS) return;
    } else if (slot > this.#slot) this.#second = this.#slot;
    this.#below = undefined;
    this.#slot = slot;
    this.#atMs = atMs;
  }
}
