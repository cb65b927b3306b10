import type { Landing, TransactionProgress } from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";

interface Look {
  readonly atMs: number;
  readonly seen: Promise<TransactionProgress | undefined>;
  isOver: boolean;
}

/**
 * Looks at how far a transaction got on the chain, shared by everybody who asks for the same one at about the same time:
 * however many they are, the nodes are asked once in `lastsMs`.
 */
export class ProgressLooks {
  readonly #landing: Pick<Landing, "fetchProgress">;
  readonly #now: Now;
  readonly #lastsMs: number;
  /** The oldest first. */
  readonly #looks = new Map<string, Look>();

  constructor(landing: Pick<Landing, "fetchProgress">, now: Now, lastsMs: number) {
    this.#landing = landing;
    this.#now = now;
    this.#lastsMs = lastsMs;
  }

  /** As `Landing.fetchProgress`; undefined too where no node answers. */
  take(signature: string, lastValidBlockHeight?: bigint): Promise<TransactionProgress | undefined> {
    const key = `${signature} ${lastValidBlockHeight ?? ""}`;
    const held = this.#looks.get(key);
    if (held !== undefined && !this.#isOld(held)) return held.seen;
    this.#forgetOld();
    const look: Look = {
      atMs: this.#now(),
      seen: this.#landing
        .fetchProgress(signature, lastValidBlockHeight)
        .catch(() => undefined)
        .finally(() => {
          look.isOver = true;
        }),
      isOver: false,
    };
    this.#looks.delete(key);
    this.#looks.set(key, look);
    return look.seen;
  }

  #isOld({ atMs, isOver }: Look): boolean {
    const ageMs = this.#now() - atMs;
    // A clock that was set back makes all of them old.
    return isOver && (ageMs < 0 || ageMs >= this.#lastsMs);
  }

  #forgetOld(): void {
    for (const [key, look] of this.#looks) {
      if (!this.#isOld(look)) return;
      this.#looks.delete(key);
    }
  }
}
