/** Stages of an everyday call at most. */
const USUAL_STAGES = 8;

/** The names of the stages that calls have ended so far. One list serves all calls that go the same way: each would have its own. */
class StageNames {
  readonly list: readonly string[];
  /** By the next stage. */
  readonly #next = new Map<string, StageNames>();

  constructor(list: readonly string[]) {
    this.list = list;
  }

  and(stage: string): StageNames {
    let next = this.#next.get(stage);
    if (next === undefined) {
      next = new StageNames([...this.list, stage]);
      if (this.list.length < USUAL_STAGES) this.#next.set(stage, next);
    }
    return next;
  }
}

const NO_STAGES = new StageNames([]);

/** Times the stages of one call. */
export class StageClock {
  readonly startMs: number;
  /** By stage. Room for those of an everyday call: a list that grows takes twice as much. No whole numbers, so that it holds no objects. */
  readonly endsMs = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5];
  #names = NO_STAGES;
  readonly #nowMs: () => number;

  /** @param nowMs a monotonic clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.startMs = nowMs();
  }

  /** The stages that have ended, in their order. */
  get names(): readonly string[] {
    return this.#names.list;
  }

  /** The time by the clock that stages are measured with. Milliseconds. */
  nowMs(): number {
    return this.#nowMs();
  }

  /** Ends the named stage now, or `agoMs` before. It began when the previous one ended. */
  mark(stage: string, agoMs = 0): void {
    const count = this.names.length;
    const endMs = agoMs === 0 ? this.#nowMs() : Math.max(this.#nowMs() - agoMs, this.endsMs[count - 1] ?? this.startMs);
    this.endsMs[count] = endMs;
    this.#names = this.#names.and(stage);
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
    const { names } = this;
    let fromMs = this.startMs;
    for (let i = 0; i < names.length; i++) {
      const endMs = this.endsMs[i]!;
      if (i > 0) out.latin1(", ");
      out.latin1(names[i]!);
      out.latin1(";dur=");
      const micros = Math.round((endMs - fromMs) * 1_000);
      out.latin1(String(Math.floor(micros / 1_000)));
      out.latin1(FRACTIONS[micros % 1_000]!);
      fromMs = endMs;
    }
  }
}

/** Of a millisecond, by the microsecond. */
const FRACTIONS: readonly string[] = Array.from({ length: 1_000 }, (_, micros) => `.${`${micros}`.padStart(3, "0")}`);

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
