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

  /** The named stage ends now, or ended `agoMs` before; it began where the last one ended. */
  mark(stage: string, agoMs = 0): void {
    const endMs = agoMs === 0 ? this.#nowMs() : Math.max(this.#nowMs() - agoMs, this.endsMs.at(-1) ?? this.startMs);
    this.names.push(stage);
    this.endsMs.push(endMs);
  }

  /** As the header says it: milliseconds per stage. @see https://www.w3.org/TR/server-timing/ */
  describe(): string {
    let text = "";
    let fromMs = this.startMs;
    for (let i = 0; i < this.names.length; i++) {
      const endMs = this.endsMs[i]!;
      text += `${i === 0 ? "" : ", "}${this.names[i]};dur=${milliseconds(endMs - fromMs)}`;
      fromMs = endMs;
    }
    return text;
  }
}

/** With three digits after the point; most stages take less than one millisecond. */
function milliseconds(ms: number): string {
  const micros = Math.round(ms * 1_000);
  return micros < 1_000 ? `0.${micros < 10 ? "00" : micros < 100 ? "0" : ""}${micros}` : ms.toFixed(3);
}

/** One call that has ended, for metrics, logs and traces. */
export interface CallRecord {
  readonly method: string;
  readonly requestId: string;
  /** OK, or the code of its failure. */
  readonly code: string;
  readonly durationMs: number;
  readonly stages: StageClock;
  /** The public part of the caller's key; absent where none was accepted. */
  readonly keyId: string | undefined;
  /** The caller's trace, as its header says it. */
  readonly traceparent: string | undefined;
}

/** Hears of every call that has ended. */
export type CallObserver = (record: CallRecord) => void;
