import { TradewireError } from "../errors/tradewire-error.ts";
import type { Now } from "../primitives/clock.ts";
import type { LiveAccounts } from "./live-accounts.ts";
import type { WatchedPair } from "./watched-pairs.ts";

/** Whether what is remembered of a pair is new enough to answer. */
interface PairFreshness {
  isFresh(pair: WatchedPair): boolean;
  /** @throws TradewireError STATE_STALE */
  assertFresh(pair: WatchedPair): void;
}

interface PairFreshnessOptions {
  readonly live: LiveAccounts;
  readonly head: { slotAgeMs(): number };
  readonly now: Now;
  readonly maxAgeMs: number;
}

/**
 * Judges the age of a pair's accounts, the oldest of which counts. Accounts that were new enough need no look again before they
 * can be too old; whenever they are looked at, the source is told that a trade may be built on them.
 */
export function createPairFreshness({ live, head, now, maxAgeMs }: PairFreshnessOptions): PairFreshness {
  /** Milliseconds; 0 where it is fresh. */
  function staleAgeMs(pair: WatchedPair): number {
    const headAgeMs = head.slotAgeMs();
    if (headAgeMs > maxAgeMs) return headAgeMs;
    const atMs = now();
    if (atMs <= pair.freshUntilMs) return 0;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const { held } of pair.watches) {
      live.use(held);
      for (const address of held) oldestMs = Math.min(oldestMs, live.currentAtMs(address));
    }
    if (oldestMs + maxAgeMs < atMs) return atMs - oldestMs;
    pair.freshUntilMs = Math.min(oldestMs, atMs) + maxAgeMs;
    return 0;
  }

  return {
    isFresh: (pair) => staleAgeMs(pair) === 0,
    assertFresh(pair) {
      const ageMs = staleAgeMs(pair);
      if (ageMs === 0) return;
      throw new TradewireError(
        "STATE_STALE",
        `The newest known state of the chain is ${Math.round(ageMs)} ms old, too old to build on. Try again shortly.`,
        { retryAfterMs: 400 },
      );
    },
  };
}
