import { constants, fstatSync, openSync, write, writeSync } from "node:fs";

/** Characters of lines that wait while none can be written; beyond that, new lines are dropped. */
const MOST_WAITING = 16 * 2 ** 20;
/** Pause after a failure. Milliseconds. */
const RETRY_MS = 200;
/** Longest that the end of the process waits for a reader that is behind, and the pause between looks. Milliseconds. */
const READER_WAIT_MS = 500;
const READER_LOOK_MS = 10;
const NOTHING = Buffer.alloc(0);

/**
 * Writes the lines of a log to a file descriptor without holding up the work. What cannot be written, as on a full disk or to a pipe that nobody
 * reads, is tried again five times a second: neither the work nor the end of the process waits for it.
 */
export class LogLines {
  readonly #fd: number;
  /** True if no write to it waits: then each is made at once, and none is on its way when the process ends. */
  readonly #isPrompt: boolean;
  #waiting = "";
  /** What the last write has left. */
  #rest: Buffer = NOTHING;
  #isBusy = false;

  constructor(fd: number) {
    const own = withoutWaiting(fd);
    this.#fd = own ?? fd;
    this.#isPrompt = own !== undefined;
  }

  /** Takes a line. It is dropped if 16 MiB wait. */
  write(line: string): void {
    if (this.#waiting.length + line.length > MOST_WAITING) return;
    this.#waiting += line;
    if (!this.#isBusy) this.#writeOn();
  }

  /** Writes what waits, before the process exits. What cannot be written is lost; a slow reader has half a second. */
  flush(): void {
    for (let looks = READER_WAIT_MS / READER_LOOK_MS; looks > 0; looks--) {
      try {
        this.#writeAll();
        return;
      } catch (error) {
        // The exit code says how the work ended, not its log.
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, READER_LOOK_MS);
      }
    }
  }

  /** @throws Error of the write; what is left still waits */
  #writeAll(): void {
    for (let bytes = this.#take(); bytes.length > 0; bytes = this.#take()) {
      this.#rest = bytes;
      this.#rest = bytes.subarray(writeSync(this.#fd, bytes));
    }
  }

  #writeOn(): void {
    if (this.#isPrompt) this.#writeNow();
    else this.#writeBeside();
  }

  #writeNow(): void {
    try {
      this.#writeAll();
      this.#isBusy = false;
    } catch {
      this.#isBusy = true;
      setTimeout(() => this.#writeOn(), RETRY_MS).unref();
    }
  }

  #writeBeside(): void {
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

/**
 * The same pipe or terminal by a descriptor on which no write waits for a reader. Others share the given one: whether it waits changes
 * with every process that is started or ends. Undefined for a file, and where the system opens no second one, as for a socket or another
 * user's pipe.
 */
function withoutWaiting(fd: number): number | undefined {
  const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    const given = fstatSync(fd);
    if (given.isFIFO() || given.isCharacterDevice())
      return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    // The log is written all the same.
  }
  return undefined;
}
