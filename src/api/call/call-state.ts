import type { ServerResponse } from "node:http";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { Principal } from "../../accounts/port.ts";
import type { TradewireError } from "../../errors/tradewire-error.ts";
import type { AnswerBytes } from "../http/lane/answer-bytes.ts";
import type { HeadLines } from "../http/lane/lane-exchange.ts";
import { Piece } from "../http/lane/piece.ts";
import type { CallKind } from "./access.ts";
import { StageClock } from "./call-record.ts";
import { LimitNote } from "./limit-note.ts";

const REQUEST_ID = new Piece("\r\nX-Request-Id: ");
const SERVER_TIMING = new Piece("\r\nServer-Timing: ");

/** The service's state of one running call. */
export class CallState implements HeadLines {
  /** Names the call in responses and logs. */
  readonly requestId: string;
  /** The client's address. */
  readonly peer: string;
  readonly stages: StageClock;
  /** Its rate-limit state. */
  readonly limit = new LimitNote();
  /** True if its response reports the duration of stages. */
  isTimed = false;
  /** The response that the client waits for; undefined for calls that the RPC library serves. */
  response: ServerResponse | undefined;
  /** The authenticated client; undefined before authentication and on calls that need no key. */
  principal: Principal | undefined;
  /** The kind it was admitted as; undefined before admission. */
  admitted: CallKind | undefined;

  /** @param nowMs a monotonic clock */
  constructor(requestId: string, peer: string, nowMs: () => number) {
    this.requestId = requestId;
    this.peer = peer;
    this.stages = new StageClock(nowMs);
    this.response = undefined;
    this.principal = undefined;
    this.admitted = undefined;
  }

  /** The service's own headers of a call that succeeded. */
  writeLines(out: AnswerBytes): void {
    out.piece(REQUEST_ID);
    out.latin1(this.requestId);
    this.limit.write(out);
    if (!this.isTimed) return;
    out.piece(SERVER_TIMING);
    this.stages.write(out);
  }
}

/** Starts the state of a call from this address. */
export type StartCall = (peer: string) => CallState;

/** Holds the state of a call that the RPC library serves. */
export const callStateKey = createContextKey<CallState | undefined>(undefined, { description: "call state" });

/** The state of a call that the RPC library serves. @throws Error if the call has none */
export function callStateIn(values: ContextValues): CallState {
  const state = values.get(callStateKey);
  if (state === undefined) throw new Error("the call has no state");
  return state;
}

/** The service's own response headers, the same on every wire: names and values in turn. */
export function responseHeaders(state: CallState, failure?: TradewireError): readonly string[] {
  const headers = ["X-Request-Id", state.requestId, ...state.limit.lines()];
  if (state.isTimed) headers.push("Server-Timing", state.stages.describe());
  const retryAfterMs = failure?.facts.retryAfterMs;
  if (retryAfterMs !== undefined) headers.push("Retry-After", String(Math.ceil(retryAfterMs / 1_000)));
  if (failure?.code === "AUTH_ERROR") headers.push("WWW-Authenticate", 'Bearer realm="Tradewire"');
  return headers;
}

/** Adds the same to the names and values of an HTTP/2 head, whose names are in lower case. */
export function addHeaders({ requestId, limit, isTimed, stages }: CallState, head: string[]): void {
  const { policy } = limit;
  head.push("x-request-id", requestId);
  if (policy !== undefined) head.push("ratelimit-policy", policy, "ratelimit", limit.state);
  if (isTimed) head.push("server-timing", stages.describe());
}

/** Passes on headers written as names and values in turn. */
export function forEachHeader(headers: readonly string[], write: (name: string, value: string) => void): void {
  for (let i = 0; i < headers.length; i += 2) write(headers[i]!, headers[i + 1]!);
}
