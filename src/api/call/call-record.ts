/** Times the stages of one call. */
export class StageClock {
  readonly startMs: number;
  readonly names: string[] = [];
  readonly endsMs: number[] = [];
  readonly #nowMs: () => number;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.startMs = nowMs();
  }

  /** The time by the clock that stages are measured with. Milliseconds. */
  nowMs(): number {
    return this.#nowMs();
  }

  /** Ends the named stage now, or `agoMs` before. It began when the previous one ended. */
  mark(stage: string, agoMs = 0): void {
    const endMs = agoMs === 0 ? this.#nowMs() : Math.max(this.#nowMs() - agoMs, this.endsMs.at(-1) ?? this.startMs);
    this.names.push(stage);
    this.endsMs.push(endMs);
  }

  /** The value of a Server-Timing header: milliseconds per stage. @see https://www.w3.org/TR/server-timing/ */
  describe(): string {
    let text = "";
    this.write({
      latin1: (piece) => {
        text += piece;
      },
    });
    return text;
  }

  /** Writes the same piece by piece: joined, each would be an object. */
  write(out: { latin1(piece: string): void }): void {
    let fromMs = this.startMs;
    for (let i = 0; i < this.names.length; i++) {
      const endMs = this.endsMs[i]!;
      if (i > 0) out.latin1(", ");
      out.latin1(this.names[i]!);
      out.latin1(";dur=");
      out.latin1(formatMs(endMs - fromMs));
      fromMs = endMs;
    }
  }
}

/** Most stages take less than a millisecond: so many microseconds each. */
const SHORT_TIMES: readonly string[] = Array.from(
  { length: 1_000 },
  (_, micros) => `0.${`${micros}`.padStart(3, "0")}`,
);

/** With three decimals. */
function formatMs(ms: number): string {
  return SHORT_TIMES[Math.round(ms * 1_000)] ?? ms.toFixed(3);
}

/** One finished call, for metrics, logs and traces. */
export interface CallRecord {
  readonly method: string;
  readonly requestId: string;
  /** OK, or its error code. */
  readonly code: string;
  readonly durationMs: number;
  readonly stages: StageClock;
  /** The public part of the API key; undefined if none was accepted. */
  readonly keyId: string | undefined;
  /** The client's `traceparent` header. */
  readonly traceparent: string | undefined;
}

/** Receives every finished call. */
export type CallObserver = (record: CallRecord) => void;
