import { write, writeSync } from "node:fs";

/** Characters of lines that wait while none can be written; beyond that, new lines are dropped. */
const MOST_WAITING = 16 * 2 ** 20;
/** Pause after a failure. Milliseconds. */
const RETRY_MS = 200;
const NOTHING = Buffer.alloc(0);

/**
 * Writes the lines of a log to a file descriptor, beside the work. What cannot be written, as on a full disk, is tried again five times
 * a second: neither the work nor the end of the process waits for it.
 */
export class LogLines {
  readonly #fd: number;
  #waiting = "";
  /** What the last write has left. */
  #rest: Buffer = NOTHING;
  #isBusy = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Takes a line. It is dropped if 16 MiB wait. */
  write(line: string): void {
    if (this.#waiting.length + line.length > MOST_WAITING) return;
    this.#waiting += line;
    if (!this.#isBusy) this.#writeOn();
  }

  /** Writes what waits, before the process exits. What cannot be written is lost. */
  flush(): void {
    try {
      for (let bytes = this.#take(); bytes.length > 0; bytes = this.#take())
        this.#rest = bytes.subarray(writeSync(this.#fd, bytes));
    } catch {
      // The exit code says how the work ended, not its log.
    }
  }

  #writeOn(): void {
    const bytes = this.#take();
    this.#isBusy = bytes.length > 0;
    if (!this.#isBusy) return;
    write(this.#fd, bytes, 0, bytes.length, null, (error, written) => {
      this.#rest = error === null ? bytes.subarray(written) : bytes;
      if (error === null) this.#writeOn();
      else setTimeout(() => this.#writeOn(), RETRY_MS).unref();
    });
  }

  #take(): Buffer {
    const bytes = this.#rest.length > 0 ? this.#rest : Buffer.from(this.#waiting);
    if (this.#rest.length === 0) this.#waiting = "";
    this.#rest = NOTHING;
    return bytes;
  }
}
