import { nextTick } from "node:process";
import type { Now } from "../../../primitives/clock.ts";

/** A call to a node. */
export interface GatheredCall {
  /** Unique among the calls to the node. */
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
  /** Longest wait for its answer. Milliseconds. */
  readonly timeoutMs: number;
}

/** What a node answers to a call, undecoded. */
export interface CallReply {
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

interface GatheredCallsOptions {
  readonly now: Now;
  /** Makes one call in a request of its own. @throws NodeError */
  readonly alone: (call: GatheredCall) => Promise<CallReply>;
  /**
   * Makes several in one request. @returns the list that the node answered with; undefined if it answered with anything else
   * @throws NodeError if it does not answer at all
   */
  readonly together: (calls: readonly GatheredCall[]) => Promise<readonly unknown[] | undefined>;
}

interface Waiting {
  readonly call: GatheredCall;
  readonly reply: PromiseWithResolvers<CallReply>;
}

/** Most calls per request: its answer is parsed in one go, and nodes limit request sizes. */
const MOST_TOGETHER = 8;
/** How long a node that does not support such requests gets one call per request. Milliseconds. */
const REFUSAL_MS = 600_000;
/** The same after a request without any answer, since the node may just be away or busy; longer each time in a row. Milliseconds. */
const SILENCE_MS = 10_000;
const SILENCE_GROWTH = 4;

/**
 * Sends calls of one method that are made in one turn of the loop in one request, as JSON-RPC allows: a request costs more than the call in
 * it. A call without a result is repeated at once in a request of its own, because the error may be the batch's. A node that does not
 * answer every call, answers with errors alone or not at all, gets single calls for a while: for ten minutes, or for ten seconds after
 * silence, and four times as long each time it is silent again.
 */
export class GatheredCalls {
  readonly #options: GatheredCallsOptions;
  /** By method and time. */
  readonly #waiting = new Map<string, Waiting[]>();
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #hasAnswered = false;
  /** Consecutive batch requests without an answer. */
  #silences = 0;

  constructor(options: GatheredCallsOptions) {
    this.#options = options;
  }

  /** True once the node has answered a batch request, unless it has failed to since. */
  get isProven(): boolean {
    return this.#hasAnswered;
  }

  /** @throws NodeError */
  call(call: GatheredCall): Promise<CallReply> {
    if (this.#options.now() < this.#refusedUntilMs) return this.#options.alone(call);
    const reply = Promise.withResolvers<CallReply>();
    // One time-out applies to all calls of a request.
    const kind = `${call.method} ${call.timeoutMs}`;
    const waiting = this.#waiting.get(kind);
    if (waiting !== undefined) waiting.push({ call, reply });
    else {
      this.#waiting.set(kind, [{ call, reply }]);
      // Runs after everything that this turn has queued.
      nextTick(() => this.#send(kind));
    }
    return reply.promise;
  }

  #send(kind: string): void {
    const waiting = this.#waiting.get(kind) ?? [];
    this.#waiting.delete(kind);
    const requests = Math.ceil(waiting.length / MOST_TOGETHER);
    const each = Math.ceil(waiting.length / requests);
    for (let from = 0; from < waiting.length; from += each) void this.#request(waiting.slice(from, from + each));
  }

  async #request(some: readonly Waiting[]): Promise<void> {
    const { alone, together } = this.#options;
    if (some.length === 1) {
      some[0]!.reply.resolve(alone(some[0]!.call));
      return;
    }
    try {
      const answers = answersById(await together(some.map(({ call }) => call)));
      this.#silences = 0;
      this.#hasAnswered =
        some.every(({ call }) => answers.has(call.id)) && some.some(({ call }) => isResult(answers.get(call.id)));
      if (!this.#hasAnswered) this.#askAlone(REFUSAL_MS);
      for (const { call, reply } of some) {
        const answer = answers.get(call.id);
        reply.resolve(isResult(answer) ? { status: 200, answer } : alone(call));
      }
    } catch (error) {
      // The node is away, or something silently drops batch requests: single calls will show which.
      this.#hasAnswered = false;
      // Other pending batch requests fail with it: they do not count as further silence.
      if (this.#options.now() >= this.#refusedUntilMs) this.#silences += 1;
      this.#askAlone(Math.min(REFUSAL_MS, SILENCE_MS * SILENCE_GROWTH ** (this.#silences - 1)));
      for (const { reply } of some) reply.reject(error);
    }
  }

  #askAlone(forMs: number): void {
    this.#refusedUntilMs = Math.max(this.#refusedUntilMs, this.#options.now() + forMs);
  }
}

function isResult(answer: CallReply["answer"] | undefined): answer is CallReply["answer"] {
  return answer !== undefined && "result" in answer && (answer.error ?? null) === null;
}

/** Answers by the id of their call; two answers with one id count as none. */
function answersById(list: readonly unknown[] = []): ReadonlyMap<unknown, CallReply["answer"]> {
  const answers = new Map<unknown, CallReply["answer"]>();
  const doubled = new Set<unknown>();
  for (const answer of list) {
    if (typeof answer !== "object" || answer === null || !("id" in answer)) continue;
    if (answers.has(answer.id)) doubled.add(answer.id);
    answers.set(answer.id, answer as CallReply["answer"]);
  }
  for (const id of doubled) answers.delete(id);
  return answers;
}
