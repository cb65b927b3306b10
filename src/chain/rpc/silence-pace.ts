import type { Now } from "../../primitives/clock.ts";

/** Time without any answer after which a node's calls are held back. Milliseconds. */
const SILENT_MS = 1_000;
/** Pause between the calls that a silent node still gets. Milliseconds. */
const PROBE_MS = 400;

interface HeldCall {
  /** Lets it be sent. */
  readonly release: () => void;
}

/**
 * Holds back calls to a node that answers nothing. One call in each pause is sent, to notice that the node answers again; all others wait
 * for that answer, each for as long as it would have waited for its own.
 */
export class SilencePace {
  readonly #runningMs: Now;
  /** When the first call since the last answer was sent; undefined if none was. */
  #silentSinceMs: number | undefined;
  /** When a call was last let through while the node was silent. */
  #probedAtMs = Number.NEGATIVE_INFINITY;
  /** Newest last. */
  readonly #held = new Set<HeldCall>();
  #timer: NodeJS.Timeout | undefined;

  /** @param runningMs time in which this process could receive answers */
  constructor(runningMs: Now) {
    this.#runningMs = runningMs;
  }

  /** True while calls are held back. */
  isOn(): boolean {
    return this.#silentSinceMs !== undefined && this.#runningMs() - this.#silentSinceMs > SILENT_MS;
  }

  /** Resolves to true once a call may be sent to a silent node; to false if that takes longer than `timeoutMs`. */
  turn(timeoutMs: number): Promise<boolean> {
    if (this.#held.size === 0 && this.#runningMs() - this.#probedAtMs >= PROBE_MS) {
      this.#probedAtMs = this.#runningMs();
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const end = (isSent: boolean) => {
        clearTimeout(deadline);
        this.#held.delete(held);
        resolve(isSent);
      };
      const held: HeldCall = { release: () => end(true) };
      const deadline = setTimeout(() => end(false), timeoutMs);
      this.#held.add(held);
      this.#timer ??= setTimeout(() => this.#probe(), PROBE_MS);
    });
  }

  noteSent(): void {
    this.#silentSinceMs ??= this.#runningMs();
  }

  /** The node has answered, or refused the connection: what was held back is sent. */
  noteAnswered(): void {
    this.#silentSinceMs = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const held of [...this.#held]) held.release();
  }

  /** Sends the newest call: it has the most time left for an answer. */
  #probe(): void {
    this.#timer = undefined;
    const newest = [...this.#held].at(-1);
    if (newest === undefined) return;
    this.#probedAtMs = this.#runningMs();
    newest.release();
    if (this.#held.size > 0) this.#timer = setTimeout(() => this.#probe(), PROBE_MS);
  }
}
