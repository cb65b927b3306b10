import { SqliteFailure } from "./sqlite-thread.ts";

/** How often a database that took no write is tried again. Milliseconds. */
const PROBE_MS = 2_000;
/**
 * Successful writes after which a damaged database counts as repaired, a minute's worth: writes that do not touch the damage succeed as
 * usual.
 */
const PROBES_AFTER_DAMAGE = 30;
/** SQLite's primary codes: read-only, an error of the disk, full. */
const SQLITE_REFUSALS = new Set([8, 10, 13]);
/** Malformed, not a database. */
const SQLITE_DAMAGE = new Set([11, 26]);
/** PostgreSQL's codes: a read-only server, a full disk, an error of the disk, a statement that took too long. */
const POSTGRES_REFUSALS = new Set(["25006", "53100", "58030", "57014"]);
/** Its driver's word for the same: a commit waits as long as its synchronous standby is away. */
const POSTGRES_TIMEOUT = "Query read timeout";
/** Damaged data, a damaged index. */
const POSTGRES_DAMAGE = new Set(["XX001", "XX002"]);

/** Whether the database accepts writes: one that is read-only or damaged, or whose disk is full, still answers queries. */
export class WriteRefusals {
  readonly #write: () => Promise<unknown>;
  #reason: string | undefined;
  /** How many writes must succeed until the reason holds no more. */
  #probes = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param write writes something of no consequence */
  constructor(write: () => Promise<unknown>) {
    this.#write = write;
  }

  /** What the database said to the last write that failed; undefined while it takes writes, as far as any was made. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Takes in the error of a statement. One that says that nothing can be written holds until a write succeeds; damage longer. */
  note(error: unknown): void {
    if (!(error instanceof Error)) return;
    const probes = probesAfter(error);
    if (probes === 0) return;
    this.#reason = error.message;
    this.#probes = Math.max(this.#probes, probes);
    this.#schedule();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#probe(), PROBE_MS).unref();
  }

  async #probe(): Promise<void> {
    const isTaken = await this.#write().then(
      () => true,
      () => false,
    );
    this.#timer = undefined;
    if (isTaken && --this.#probes === 0) this.#reason = undefined;
    else this.#schedule();
  }
}

/** Number of writes that must succeed after an error before it counts as over; 0 for an error that says nothing about writes. */
function probesAfter(error: Error): number {
  const [refuses, isDamaged] =
    error instanceof SqliteFailure
      ? [SQLITE_REFUSALS.has(error.errcode & 0xff), SQLITE_DAMAGE.has(error.errcode & 0xff)]
      : [isPostgresRefusal(error), POSTGRES_DAMAGE.has(codeOf(error))];
  if (isDamaged) return PROBES_AFTER_DAMAGE;
  return refuses ? 1 : 0;
}

const isPostgresRefusal = (error: Error): boolean =>
  POSTGRES_REFUSALS.has(codeOf(error)) || error.message === POSTGRES_TIMEOUT;

const codeOf = (error: Error): string => ("code" in error ? String(error.code) : "");
