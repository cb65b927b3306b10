import type { Landing, TransactionProgress } from "../../../chain/port.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { SubmittedTrade } from "../../trade.ts";

/** Confirmed trades kept in memory. */
const MAX_CONFIRMED = 4_096;

interface Entry {
  readonly startedAtMs: number;
  readonly progress: Promise<TransactionProgress | undefined>;
  isComplete: boolean;
}

/**
 * Progress of transactions on the chain. All look-ups within `lifetimeMs` share one: the nodes are asked once, however many callers ask.
 */
export class ProgressCache {
  readonly #landing: Pick<Landing, "fetchProgress">;
  readonly #now: Now;
  readonly #lifetimeMs: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  /** Slots of the trades that a look-up has shown as confirmed, by signature, oldest first. */
  readonly #confirmed = new Map<string, bigint>();

  constructor(landing: Pick<Landing, "fetchProgress">, now: Now, lifetimeMs: number) {
    this.#landing = landing;
    this.#now = now;
    this.#lifetimeMs = lifetimeMs;
  }

  /** As `Landing.fetchProgress`; undefined also if no node answers. */
  fetch(signature: string, lastValidBlockHeight?: bigint): Promise<TransactionProgress | undefined> {
    const key = `${signature} ${lastValidBlockHeight ?? ""}`;
    const held = this.#entries.get(key);
    if (held !== undefined && !this.#isExpired(held)) return held.progress;
    this.#dropExpired();
    const entry: Entry = {
      startedAtMs: this.#now(),
      progress: this.#landing
        .fetchProgress(signature, lastValidBlockHeight)
        .catch(() => undefined)
        .finally(() => {
          entry.isComplete = true;
        }),
      isComplete: false,
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.progress;
  }

  /**
   * A pending trade that another process drives, with the progress that the chain shows, or unchanged if no node answers. At most
   * "confirmed", since only a written outcome is reported as finalized; a trade that failed stays "processed" until the process that drives
   * it has found out why.
   */
  async observe(trade: SubmittedTrade, lastValidBlockHeight: bigint): Promise<SubmittedTrade> {
    const seen = await this.fetch(trade.signature, lastValidBlockHeight);
    if (seen === undefined) return this.standing(trade);
    if (seen.commitment !== "processed" && seen.error == null) this.#noteConfirmed(trade.signature, seen.slot);
    return this.standing({ ...trade, status: "processed", slot: seen.slot });
  }

  /** A pending trade, confirmed if any look-up has shown that: a node that lags or goes away takes nothing back. */
  standing(trade: SubmittedTrade): SubmittedTrade {
    const slot = this.#confirmed.get(trade.signature);
    return slot === undefined || trade.status === "confirmed" ? trade : { ...trade, status: "confirmed", slot };
  }

  #noteConfirmed(signature: string, slot: bigint): void {
    this.#confirmed.delete(signature);
    if (this.#confirmed.size >= MAX_CONFIRMED) this.#confirmed.delete(this.#confirmed.keys().next().value!);
    this.#confirmed.set(signature, slot);
  }

  #isExpired({ startedAtMs, isComplete }: Entry): boolean {
    const ageMs = this.#now() - startedAtMs;
    // A clock that was set back expires all entries.
    return isComplete && (ageMs < 0 || ageMs >= this.#lifetimeMs);
  }

  #dropExpired(): void {
    for (const [key, entry] of this.#entries) {
      if (!this.#isExpired(entry)) return;
      this.#entries.delete(key);
    }
  }
}
