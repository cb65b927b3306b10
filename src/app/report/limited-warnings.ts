import type { Now } from "../../primitives/clock.ts";

/** Lines of one kind written within a period. */
const MOST_OF_A_KIND = 10;
/** Milliseconds. */
const PERIOD_MS = 60_000;
/** Kinds told apart; lines of further kinds count together. */
const MOST_KINDS = 500;
const OTHERS = "other warnings";

interface Kind {
  readonly name: string;
  written: number;
  leftOut: number;
}

/**
 * Bounds how many warnings of a kind are written, whatever a node does to cause them: ten in a minute, then their number. Lines are of
 * one kind if they are the same up to the reason, numbers and addresses aside.
 */
export class LimitedWarnings {
  readonly #write: (message: string) => void;
  readonly #now: Now;
  readonly #kinds = new Map<string, Kind>();
  #beganAtMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (message: string) => void, now: Now) {
    this.#write = write;
    this.#now = now;
    this.#beganAtMs = now();
  }

  /** Writes the line, or counts it. */
  warn(message: string): void {
    if (this.#now() - this.#beganAtMs >= PERIOD_MS) this.#renew();
    const kind = this.#kindOf(message);
    if (kind.written < MOST_OF_A_KIND) {
      kind.written += 1;
      this.#write(message);
    } else {
      kind.leftOut += 1;
      this.#timer ??= setTimeout(() => this.#renew(), PERIOD_MS).unref();
    }
  }

  close(): void {
    this.#renew();
  }

  #kindOf(message: string): Kind {
    const name = nameOf(message);
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const isRoom = this.#kinds.size < MOST_KINDS || name === OTHERS;
    if (!isRoom) return this.#kindOf(OTHERS);
    const kind = { name, written: 0, leftOut: 0 };
    this.#kinds.set(name, kind);
    return kind;
  }

  /** Begins another period, and reports what the last one left out. */
  #renew(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#beganAtMs = this.#now();
    const leftOut = [...this.#kinds.values()].filter((kind) => kind.leftOut > 0);
    this.#kinds.clear();
    for (const kind of leftOut) this.#write(`${kind.leftOut} more lines like this were left out: ${kind.name}`);
  }
}

const LONGEST_NAME = 200;

/** A line up to its reason, without numbers and addresses. Of what a node wrote itself little is looked at. */
function nameOf(message: string): string {
  const head = message.slice(0, LONGEST_NAME);
  const end = head.search(/: | \(/);
  return (end < 0 ? head : head.slice(0, end)).replace(/[1-9A-HJ-NP-Za-km-z]{32,}|\d+/g, "…");
}
