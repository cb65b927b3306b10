import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Principal } from "../../accounts/port.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import { StageClock } from "./call-record.ts";
import type { AnswerHeaders, CallKind } from "./rate-limits.ts";

/** What is noted about one call on its way. */
export class CallState {
  /** Names the call in answers and logs. */
  readonly requestId: string;
  /** The caller's address. */
  readonly peer: string;
  readonly stages: StageClock;
  readonly headers: AnswerHeaders = [];
  /** Who calls, once that is known. */
  principal: Principal | undefined;
  /** What it was let in as, once it was. */
  entered: CallKind | undefined;

  constructor(requestId: string, peer: string) {
    this.requestId = requestId;
    this.peer = peer;
    this.stages = new StageClock(monotonicMs);
    this.principal = undefined;
    this.entered = undefined;
  }
}

/** The clock that calls are timed and limited by. */
export const monotonicMs = (): number => performance.now();

/** Where a call that goes through the RPC library keeps its state. */
export const callStateKey = createContextKey<CallState | undefined>(undefined, { description: "call state" });

/** The state of a call that goes through the RPC library. */
export function callStateIn(values: ContextValues): CallState {
  const state = values.get(callStateKey);
  if (state === undefined) throw new Error("the call has no state");
  return state;
}

/** What the call has to say of itself on its answer, whichever way that goes out: names and values in turn. */
export function answerHeaders(state: CallState, failure?: TradewireError): readonly string[] {
  const headers = ["X-Request-Id", state.requestId, ...state.headers];
  const retryAfterMs = failure?.facts.retryAfterMs;
  if (retryAfterMs !== undefined) headers.push("Retry-After", String(Math.ceil(retryAfterMs / 1_000)));
  if (failure?.code === "AUTH_ERROR") headers.push("WWW-Authenticate", "Bearer");
  return headers;
}

/** Hands over headers written as names and values in turn. */
export function forEachHeader(headers: readonly string[], write: (name: string, value: string) => void): void {
  for (let i = 0; i < headers.length; i += 2) write(headers[i]!, headers[i + 1]!);
}
