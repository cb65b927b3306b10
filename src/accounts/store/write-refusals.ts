import { SqliteFailure } from "./sqlite-thread.ts";

/** How often a database that took no write is tried again. Milliseconds. */
const PROBE_MS = 2_000;
/** SQLite's primary codes: read-only, an error of the disk, full. */
const SQLITE_CODES = new Set([8, 10, 13]);
/** PostgreSQL's codes: a read-only server, a full disk, an error of the disk. */
const POSTGRES_CODES = new Set(["25006", "53100", "58030"]);

/** Whether the database takes writes: one that is read-only, or whose disk is full, answers queries as ever. */
export class WriteRefusals {
  readonly #write: () => Promise<unknown>;
  #reason: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param write writes something of no consequence */
  constructor(write: () => Promise<unknown>) {
    this.#write = write;
  }

  /** What the database said to the last write; undefined while it takes writes, as far as any was made. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Takes in the error of a statement. One that says that nothing can be written holds until a write succeeds. */
  note(error: unknown): void {
    if (!isWriteRefusal(error)) return;
    this.#reason = error.message;
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
    if (isTaken) this.#reason = undefined;
    else this.#schedule();
  }
}

function isWriteRefusal(error: unknown): error is Error {
  if (error instanceof SqliteFailure) return SQLITE_CODES.has(error.errcode & 0xff);
  return error instanceof Error && "code" in error && POSTGRES_CODES.has(String(error.code));
}
