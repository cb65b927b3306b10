import type { Now } from "../primitives/clock.ts";
import type { Store } from "./store/store.ts";

/** Pause between looks at the server's clock: it may be set, or another server may have taken over. Milliseconds. */
const LOOK_MS = 10_000;

/** The clock that rows are dated by, and judged by. */
export interface DatabaseClock {
  /** Milliseconds since 1970. */
  readonly now: Now;
  close(): void;
}

/**
 * The clock that leases, keys and outcomes are dated by, the same for all processes on one database: PostgreSQL's own, followed by a
 * monotonic clock between looks and while it is away. Processes on an embedded database have that of their machine. By clocks of their
 * own, one that is ahead would take over what others follow, and delete what they have just written.
 *
 * @throws TradewireError UPSTREAM_ERROR if the database does not answer
 */
export async function openDatabaseClock(store: Store, wallMs: Now, elapsedMs: Now): Promise<DatabaseClock> {
  if (store.isEmbedded) return { now: wallMs, close() {} };
  let fromElapsed: number | undefined;
  const look = async () => {
    const sentMs = elapsedMs();
    const [row] = await store.query<{ at_ms: number }>(
      "select (extract(epoch from clock_timestamp()) * 1000)::bigint as at_ms",
      [],
    );
    // The server read its clock at some moment in between: a slow answer proves little, and does not move a clock that is consistent with
    // it.
    const [least, most] = [row!.at_ms - elapsedMs(), row!.at_ms - sentMs];
    fromElapsed = Math.min(Math.max(fromElapsed ?? (least + most) / 2, least), most);
  };
  await look();
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  timer.unref();
  return { now: () => Math.floor(elapsedMs() + fromElapsed!), close: () => clearInterval(timer) };
}
