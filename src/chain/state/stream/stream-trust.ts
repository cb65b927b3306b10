import type { Now } from "../../../primitives/clock.ts";
import type { AccountFeed } from "../account-feed.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import type { StreamAudit } from "./stream-audit.ts";
import type { StreamProgress } from "./stream-progress.ts";
import type { StreamSuspension } from "./stream-suspension.ts";

interface StreamTrustOptions {
  readonly feed: AccountFeed;
  readonly followed: FollowedAccounts;
  readonly stream: StreamProgress;
  readonly audit: StreamAudit;
  readonly suspension: StreamSuspension;
  readonly now: Now;
  readonly warn: (message: string) => void;
  /** Silence after which the stream is considered stale. Milliseconds. */
  readonly quietMs: number;
  /** Called when accounts start to depend on reads. */
  readonly onUrgent: () => void;
}

/** How long a stream that lost a change is not relied on. Milliseconds. */
const DISTRUST_MS = 10_000;
/** Minimum time between two changes of the stream because the nodes contradict it. Milliseconds. */
const CONTRADICTED_MS = 2_000;

/** Leaves a stream that lags, floods, loses changes or is wrong: for another one, or for reads if there is none. */
export class StreamTrust {
  readonly #options: StreamTrustOptions;
  #doubtedAtMs = Number.NEGATIVE_INFINITY;
  #floodedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: StreamTrustOptions) {
    this.#options = options;
  }

  /**
   * Switches to another stream if there is one. Not often: the next connection needs time to open and to subscribe to everything.
   * @returns false if there is no other stream
   */
  doubt(pauseMs = DISTRUST_MS): boolean {
    const { feed, now } = this.#options;
    if (now() < this.#doubtedAtMs + pauseMs) return true;
    this.#doubtedAtMs = now();
    return feed.doubt();
  }

  /** Most nodes contradict what the stream reported. */
  leave(): void {
    if (this.doubt(CONTRADICTED_MS)) return;
    this.#options.suspension.begin();
    this.#options.onUrgent();
  }

  /** True while the stream reports more than can be kept: it is left, and changes that are not kept are read. */
  isFlooded(): boolean {
    const { followed, now, warn } = this.#options;
    if (!followed.isFlooded()) return false;
    const atMs = now();
    if (atMs >= this.#floodedUntilMs)
      warn(
        "The stream reports more changes of accounts than a chain makes; followed accounts are read until it no longer does.",
      );
    this.#floodedUntilMs = atMs + DISTRUST_MS;
    followed.distrustUntil(this.#floodedUntilMs);
    this.leave();
    return true;
  }

  /** Doubts a stream that delivers but is behind other sources: its node lags, or is wrong about its slot. */
  checkLag(): void {
    const { feed, stream, now, quietMs } = this.#options;
    if (stream.lagMs() > 2 * quietMs && now() - feed.leastLiveAtMs() <= quietMs) this.doubt();
  }

  /** Doubts a stream that has not reported changes which reads have found. */
  checkLosses(): void {
    const { audit, followed, now, warn, onUrgent } = this.#options;
    const wrong = audit.compare();
    if (wrong.size === 0) return;
    const [first] = wrong;
    warn(
      `The stream did not report changes of ${wrong.size} accounts, such as ${first!.address}; all followed accounts are read for ${DISTRUST_MS / 1_000} s.`,
    );
    followed.distrustUntil(now() + DISTRUST_MS);
    onUrgent();
    this.doubt();
  }
}
