import { AnswerBytes } from "../http/lane/answer-bytes.ts";
import { Piece } from "../http/lane/piece.ts";

/** Most stages of a call whose names are kept: a submit has ten. */
const USUAL_STAGES = 16;

/** The names of the ended stages. Calls that take the same path share one list. */
class StageNames {
  readonly list: readonly string[];
  /** The text before each time in Server-Timing. */
  readonly beginnings: readonly Piece[];
  /** By the next stage. */
  readonly #next = new Map<string, StageNames>();
  /** The next stage of the last call that was here, found without a look-up: most calls take the same path. */
  #lastStage: string | undefined = undefined;
  #afterLast: StageNames = this;

  constructor(list: readonly string[]) {
    this.list = list;
    this.beginnings = list.map((stage, i) => new Piece(`${i === 0 ? "" : ", "}${stage};dur=`));
  }

  and(stage: string): StageNames {
    if (stage === this.#lastStage) return this.#afterLast;
    let next = this.#next.get(stage);
    if (next === undefined) {
      next = new StageNames([...this.list, stage]);
      if (this.list.length >= USUAL_STAGES) return next;
      this.#next.set(stage, next);
    }
    this.#lastStage = stage;
    this.#afterLast = next;
    return next;
  }
}

const NO_STAGES = new StageNames([]);

/** Scratch buffer for texts. */
const described = new AnswerBytes();

/** Times the stages of one call. */
export class StageClock {
  readonly startMs: number;
  /**
   * Times by stage, with room for an everyday call: a list that grows takes twice the memory. Fractions from the start, so that the engine
   * stores plain doubles.
   */
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
    this.write(described.begin(0));
    return described.text();
  }

  /** Writes the same piece by piece: joining texts would allocate each. */
  write(out: AnswerBytes): void {
    const { beginnings } = this.#names;
    for (let i = 0; i < beginnings.length; i++) {
      out.piece(beginnings[i]!);
      out.thousandths(this.#microsOf(i));
    }
  }

  /** Duration of a stage. Microseconds. */
  #microsOf(place: number): number {
    const fromMs = place === 0 ? this.startMs : this.endsMs[place - 1]!;
    return Math.round((this.endsMs[place]! - fromMs) * 1_000);
  }
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
