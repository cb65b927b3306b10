import { nextTick } from "node:process";
import type { Now } from "../../../primitives/clock.ts";

/** A call to a node. */
export interface GatheredCall {
  /** Of no other call to the node. */
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

/** Calls of a request: its answer is parsed in one go, and nodes bound what they read. */
const MOST_TOGETHER = 8;
/** How long a node that does not answer such requests is asked one by one. Milliseconds. */
const REFUSAL_MS = 600_000;

/**
 * Makes calls of one method that come in one turn of the loop in one request, as JSON-RPC allows: a request costs more than the call
 * in it. A node that answers such a request with anything but an answer to each call is asked again at once, one by one, and
 * then so for a while.
 */
export class GatheredCalls {
  readonly #options: GatheredCallsOptions;
  readonly #waiting = new Map<string, Waiting[]>();
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #hasAnswered = false;

  constructor(options: GatheredCallsOptions) {
    this.#options = options;
  }

  /** True once the node has answered several calls in one request, unless it has failed to since. */
  get isProven(): boolean {
    return this.#hasAnswered;
  }

  /** @throws NodeError */
  call(call: GatheredCall): Promise<CallReply> {
    if (this.#options.now() < this.#refusedUntilMs) return this.#options.alone(call);
    const reply = Promise.withResolvers<CallReply>();
    const waiting = this.#waiting.get(call.method);
    if (waiting !== undefined) waiting.push({ call, reply });
    else {
      this.#waiting.set(call.method, [{ call, reply }]);
      // After everything that this turn has brought forth.
      nextTick(() => this.#send(call.method));
    }
    return reply.promise;
  }

  #send(method: string): void {
    const waiting = this.#waiting.get(method) ?? [];
    this.#waiting.delete(method);
    const requests = Math.ceil(waiting.length / MOST_TOGETHER);
    const each = Math.ceil(waiting.length / requests);
    for (let from = 0; from < waiting.length; from += each) void this.#request(waiting.slice(from, from + each));
  }

  async #request(some: readonly Waiting[]): Promise<void> {
    const { alone, together, now } = this.#options;
    if (some.length === 1) {
      some[0]!.reply.resolve(alone(some[0]!.call));
      return;
    }
    try {
      const answers = answersById(await together(some.map(({ call }) => call)));
      this.#hasAnswered = some.every(({ call }) => answers.has(call.id));
      if (!this.#hasAnswered) this.#refusedUntilMs = now() + REFUSAL_MS;
      for (const { call, reply } of some) {
        const answer = answers.get(call.id);
        reply.resolve(answer === undefined ? alone(call) : { status: 200, answer });
      }
    } catch (error) {
      for (const { reply } of some) reply.reject(error);
    }
  }
}

/** Answers that name their call; two that name one are none. */
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
