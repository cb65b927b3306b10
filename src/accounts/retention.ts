import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store.ts";

/** How long the one terminal answer of a submission can be asked for again. */
const OUTCOME_LIFE_MS = 24 * 3_600_000;

/** How long a challenge is kept past its end, so that a late answer is told "expired" or "used" and not "unknown". */
const CHALLENGE_AFTERLIFE_MS = 3_600_000;

/** How long a submission that nobody can decide is kept: its token can no longer be opened, or its chain is gone. */
const UNDECIDED_LIFE_MS = 7 * 24 * 3_600_000;

/** Removes what nobody can ask for any more: submissions decided a day ago, challenges that ended an hour ago. */
export async function sweepStore(store: Store, nowMs: number): Promise<void> {
  await store.run((db) =>
    db
      .deleteFrom("submissions")
      .where("finished_at_ms", "<", nowMs - OUTCOME_LIFE_MS)
      .execute(),
  );
  await store.run((db) =>
    db
      .deleteFrom("submissions")
      .where("outcome", "is", null)
      .where("lease_until_ms", "<", nowMs - UNDECIDED_LIFE_MS)
      .execute(),
  );
  await store.run((db) =>
    db
      .deleteFrom("challenges")
      .where("expires_at_ms", "<", nowMs - CHALLENGE_AFTERLIFE_MS)
      .execute(),
  );
}

/** Sweeps the store every `everyMs` milliseconds until the returned function is called. A failed sweep is made up by the next. */
export function startSweeping(store: Store, now: Now, everyMs = 60_000): () => void {
  const timer = setInterval(() => sweepStore(store, now()).catch(() => {}), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
