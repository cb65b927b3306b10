import type { ServerResponse } from "node:http";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { TradewireError } from "../errors/tradewire-error.ts";
import { StageClock } from "./call-record.ts";
import type { AnswerHeaders } from "./rate-limits.ts";

/** What is noted about one call on its way. */
export class CallState {
  /** The caller's address. */
  readonly peer: string;
  readonly stages: StageClock;
  readonly headers: AnswerHeaders = [];
  keyId: string | undefined;

  constructor(peer: string) {
    this.peer = peer;
    this.stages = new StageClock(monotonicMs);
  }
}

/** The clock that calls are timed and limited by. */
export const monotonicMs = (): number => performance.now();

export const callStateKey = createContextKey<CallState | undefined>(undefined, { description: "call state" });

/** Puts what the call has to say of itself on its answer, whichever way that goes out. */
export function writeAnswerHeaders(response: ServerResponse, values: ContextValues, failure?: TradewireError): void {
  forEachAnswerHeader(values, failure, (name, value) => response.setHeader(name, value));
}

/** The same for headers of any other kind. */
export function forEachAnswerHeader(
  values: ContextValues,
  failure: TradewireError | undefined,
  write: (name: string, value: string) => void,
): void {
  const headers = values.get(callStateKey)?.headers ?? [];
  for (let i = 0; i < headers.length; i += 2) write(headers[i]!, headers[i + 1]!);
  const retryAfterMs = failure?.facts.retryAfterMs;
  if (retryAfterMs !== undefined) write("Retry-After", String(Math.ceil(retryAfterMs / 1_000)));
}
