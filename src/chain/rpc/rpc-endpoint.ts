import type { Now } from "../../primitives/clock.ts";
import { accountsAnswerOf } from "./accounts/accounts-answer.ts";
import { type AlikeAnswers, idAbout } from "./http/alike-answers.ts";
import { answeredError, REFUSAL_STATUSES } from "./http/answered-error.ts";
import { describeConnectionFailure } from "./http/connection-failure.ts";
import { type CallReply, type GatheredCall, GatheredCalls } from "./http/gathered-calls.ts";
import { CallTimeout, HttpClient } from "./http/http-client.ts";
import { NodeError } from "./node-error.ts";
import { asRecord, parseRpcJson } from "./rpc-values.ts";
import { SilencePace } from "./silence-pace.ts";

/** One Solana node, called over JSON-RPC. */
export interface RpcEndpoint {
  /** Host of the node. Never the whole URL: those carry keys. */
  readonly name: string;
  /** One call. @throws TradewireError UPSTREAM_ERROR, as a NodeError */
  call(method: string, params: readonly unknown[], timeoutMs?: number): Promise<unknown>;
  /** Its answer contradicts the known chain: other nodes go first for a while. */
  doubt(): void;
  /** Other nodes contradict it: for that long (milliseconds) it is asked only if all others fail. */
  setAside(forMs: number): void;
  isAside(): boolean;
  /** True while the node is backing off after failures or has unanswered calls; other nodes go first. */
  isCooling(): boolean;
  /** Milliseconds since the first of the latest calls without a proper answer; 0 if the last call got one. */
  silentForMs(): number;
}

interface RpcEndpointOptions {
  readonly url: string;
  readonly now: Now;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest wait for a whole answer. */
  readonly timeoutMs?: number;
  /** Time in which this process could receive answers; absent: the same as `now`. Silence is counted by it. */
  readonly runningMs?: Now;
  /** Largest answer read. */
  readonly maxResponseBytes?: number;
  /** Shared by the nodes of a pool; absent: the node stands alone. */
  readonly alike?: AlikeAnswers | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

const DEFAULT_TIMEOUT_MS = 4_000;
/** Largest answers: many or large accounts, and everything else. */
const ACCOUNTS_BYTES = 4 * 1024 * 1024;
const OTHER_BYTES = 1024 * 1024;
const ACCOUNT_METHODS: ReadonlySet<string> = new Set(["getMultipleAccounts", "getProgramAccounts"]);
const FIRST_BACKOFF_MS = 125;
const MAX_BACKOFF_MS = 4_000;
const DOUBT_MS = 2_000;
/** Silence with calls waiting after which other nodes go first, long before a call times out. */
const SILENT_MS = 400;

/** Methods whose calls of one turn share a request: many trades make them at the same moment. */
const SHARED_METHODS: ReadonlySet<string> = new Set(["getTransaction"]);

/** A call as JSON-RPC writes it; `method` is one of ours. */
function textOf({ id, method, params }: GatheredCall): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`;
}

/** A node at a URL. Answers are untrusted: bounded in size and time, matched by id, never redirected. */
export function createRpcEndpoint(options: RpcEndpointOptions): RpcEndpoint {
  return new HttpEndpoint(options);
}

class HttpEndpoint implements RpcEndpoint {
  readonly name: string;
  readonly #http: HttpClient;
  readonly #now: Now;
  readonly #runningMs: Now;
  readonly #timeoutMs: number;
  readonly #maxResponseBytes: number;
  readonly #gathered: GatheredCalls;
  readonly #alike: AlikeAnswers | undefined;
  readonly #pace: SilencePace;
  #lastId = 0;
  #failures = 0;
  #outageUntilMs = 0;
  #doubtUntilMs = 0;
  #asideUntilMs = 0;
  #answeredAtMs = 0;
  /** When the first of the latest calls without a proper answer was sent; undefined if the last one got one. */
  #waitingSinceMs: number | undefined;
  /** When each unanswered call was sent, by id, oldest first. */
  readonly #unanswered = new Map<number, number>();

  constructor(options: RpcEndpointOptions) {
    const url = new URL(options.url);
    this.name = url.host;
    this.#http = new HttpClient(url, options.headers ?? {}, options.now);
    this.#now = options.now;
    this.#runningMs = options.runningMs ?? options.now;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#maxResponseBytes = options.maxResponseBytes ?? ACCOUNTS_BYTES;
    this.#alike = options.alike;
    this.#pace = new SilencePace(this.#runningMs);
    this.#gathered = new GatheredCalls({
      now: options.now,
      alone: (call) => this.#callAlone(call),
      together: (calls) => this.#callTogether(calls),
    });
  }

  async call(method: string, params: readonly unknown[], timeoutMs = this.#timeoutMs): Promise<unknown> {
    const id = this.#idOf(method, params[0]);
    const call: GatheredCall = { id, method, params, timeoutMs };
    const { status, answer } = await (this.#mayShare(method) ? this.#gathered.call(call) : this.#callAlone(call));
    if (answer.error !== undefined && answer.error !== null) {
      this.#clearOutage();
      throw answeredError(this.name, method, status, asRecord(answer.error, "an error"));
    }
    if (answer.id !== id || !("result" in answer))
      throw this.#malformed(`The Solana node ${this.name} answered ${method} with the answer to another call.`);
    this.#clearOutage();
    return answer.result;
  }

  /** Other nodes get the same question with the same id. An id in use is not given to a second call. */
  #idOf(method: string, about: unknown): number {
    if (this.#alike === undefined || !SHARED_METHODS.has(method) || typeof about !== "string") return ++this.#lastId;
    const id = idAbout(about);
    if (this.#unanswered.has(id)) return ++this.#lastId;
    this.#unanswered.set(id, this.#runningMs());
    return id;
  }

  /** Sends cannot wait for a second try, so they share requests only with a node that is known to answer shared ones. */
  #mayShare(method: string): boolean {
    return SHARED_METHODS.has(method) || (method === "sendTransaction" && this.#gathered.isProven);
  }

  async #callAlone(call: GatheredCall): Promise<CallReply> {
    const { method } = call;
    const maxBytes = Math.min(this.#maxResponseBytes, ACCOUNT_METHODS.has(method) ? ACCOUNTS_BYTES : OTHER_BYTES);
    const { status, text } = await this.#post([call], maxBytes);
    if (text === undefined)
      throw this.#oversized(
        method,
        `The Solana node ${this.name} answered ${method} with more than ${maxBytes} bytes.`,
      );
    if (status === 429 || status >= 500)
      throw this.#outage(`The Solana node ${this.name} is overloaded: HTTP ${status} to ${method}.`, {
        isOverLimit: status === 429,
      });
    return { status, answer: this.#parse(method, status, text) };
  }

  /** A bad answer may be due to several calls sharing the request: only single calls show the cause. */
  async #callTogether(calls: readonly GatheredCall[]): Promise<readonly unknown[] | undefined> {
    const { status, text } = await this.#post(calls, Math.min(this.#maxResponseBytes, OTHER_BYTES));
    try {
      const list = text === undefined || status !== 200 ? undefined : this.#parseText(calls[0]!.method, text);
      return Array.isArray(list) ? list : undefined;
    } catch {
      return undefined;
    }
  }

  doubt(): void {
    this.#doubtUntilMs = this.#now() + DOUBT_MS;
  }

  setAside(forMs: number): void {
    this.#asideUntilMs = this.#now() + forMs;
  }

  isAside(): boolean {
    return this.#now() < this.#asideUntilMs;
  }

  isCooling(): boolean {
    const nowMs = this.#now();
    return nowMs < this.#outageUntilMs || nowMs < this.#doubtUntilMs || this.#isSilent();
  }

  silentForMs(): number {
    return this.#waitingSinceMs === undefined ? 0 : Math.max(0, this.#runningMs() - this.#waitingSinceMs);
  }

  #isSilent(): boolean {
    const oldestMs = this.#unanswered.values().next().value;
    return oldestMs !== undefined && this.#runningMs() - Math.max(oldestMs, this.#answeredAtMs) > SILENT_MS;
  }

  /** The response to one call or several of one method, its text undefined if it was too large. */
  async #post(calls: readonly GatheredCall[], maxBytes: number): Promise<{ status: number; text: string | undefined }> {
    const { method, timeoutMs } = calls[0]!;
    const sentAtMs = this.#runningMs();
    for (const { id } of calls) this.#unanswered.set(id, sentAtMs);
    this.#waitingSinceMs ??= sentAtMs;
    try {
      const leftMs = this.#mayWait(method) ? await this.#takeTurn(timeoutMs) : timeoutMs;
      const body = calls.length === 1 ? textOf(calls[0]!) : `[${calls.map(textOf).join()}]`;
      const isLarge = ACCOUNT_METHODS.has(method);
      this.#pace.noteSent();
      const answer = await this.#http.post(body, { timeoutMs: leftMs, maxBytes, isLarge });
      this.#answeredAtMs = this.#runningMs();
      this.#pace.noteAnswered();
      return answer;
    } catch (cause) {
      if (!(cause instanceof CallTimeout)) this.#pace.noteAnswered();
      throw this.#outage(
        `The Solana node ${this.name} ${describeConnectionFailure(cause, timeoutMs)}; the call was ${method}.`,
        { cause },
      );
    } finally {
      for (const { id } of calls) this.#unanswered.delete(id);
    }
  }

  /** A broadcast never waits: the node may pass it on, though it answers nothing. */
  #mayWait(method: string): boolean {
    return method !== "sendTransaction" && this.#pace.isOn();
  }

  /** Waits until a silent node may be sent a call. @returns the time left for it, milliseconds @throws CallTimeout */
  async #takeTurn(timeoutMs: number): Promise<number> {
    const sinceMs = this.#runningMs();
    const isSent = await this.#pace.turn(timeoutMs);
    const leftMs = timeoutMs - (this.#runningMs() - sinceMs);
    if (!isSent || leftMs <= 0) throw new CallTimeout();
    return leftMs;
  }

  #parseText(method: string, text: string): unknown {
    const written = method === "getMultipleAccounts" ? accountsAnswerOf(text) : undefined;
    if (written !== undefined) return written;
    const alike = SHARED_METHODS.has(method) ? this.#alike : undefined;
    return alike === undefined ? parseRpcJson(text) : alike.parse(text);
  }

  #parse(method: string, status: number, text: string): JsonObject {
    try {
      return asRecord(this.#parseText(method, text), "an answer");
    } catch (cause) {
      if (REFUSAL_STATUSES.has(status))
        throw new NodeError("refused", `The Solana node ${this.name} does not serve ${method}: HTTP ${status}.`);
      throw this.#malformed(`The Solana node ${this.name} answered ${method} with HTTP ${status} and no JSON.`, cause);
    }
  }

  /** A node whose answers cannot be read is asked last for a while. */
  #malformed(message: string, cause?: unknown): NodeError {
    this.doubt();
    return new NodeError("malformed", message, { cause });
  }

  /** Callers choose which accounts are read: an answer that is too large does not count against a node if the others give none either. */
  #oversized(method: string, message: string): NodeError {
    if (!ACCOUNT_METHODS.has(method)) this.doubt();
    return new NodeError("oversized", message);
  }

  #outage(message: string, facts: { readonly isOverLimit?: boolean; readonly cause?: unknown }): NodeError {
    const nowMs = this.#now();
    // Calls that fail together are one failure.
    if (nowMs >= this.#outageUntilMs) {
      this.#outageUntilMs = nowMs + Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures, MAX_BACKOFF_MS);
      this.#failures += 1;
    }
    return new NodeError("unreachable", message, facts);
  }

  /** Answering again clears the outage, not the suspicion. */
  #clearOutage(): void {
    this.#outageUntilMs = 0;
    this.#failures = 0;
    this.#waitingSinceMs = undefined;
  }
}
