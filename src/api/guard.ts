import type { DescMethod } from "@bufbuild/protobuf";
import { ConnectError, type Interceptor } from "@connectrpc/connect";
import { AccountService } from "../../gen/tradewire/v1/account_pb.ts";
import { TradeService } from "../../gen/tradewire/v1/trade_pb.ts";
import { needsKey } from "./access.ts";
import type { Admission } from "./admission.ts";
import type { CallObserver } from "./call-record.ts";
import { callStateKey, monotonicMs } from "./call-state.ts";
import { failureOf } from "./failure.ts";
import { headerOf } from "./invoker.ts";
import type { CallKind, RateLimits } from "./rate-limits.ts";

const { buy, sell, swap, quote, submit } = TradeService.method;
const BUILDS: ReadonlySet<DescMethod> = new Set([buy, sell, swap, quote]);

/** What a call is limited as; undefined for those that concern the server itself, such as health. */
export function kindOf(method: DescMethod): CallKind | undefined {
  if (BUILDS.has(method)) return "build";
  if (method === submit) return "submit";
  if (method.parent !== TradeService && method.parent !== AccountService) return undefined;
  return needsKey(method) ? "read" : "open";
}

/** Holds calls to the limits of their address and to what the process can do, and reports how each ended. */
export function guardCalls(
  limits: RateLimits,
  admission: Admission,
  observe: CallObserver,
  requestIdOf: (request: Parameters<ReturnType<Interceptor>>[0]) => string,
): Interceptor {
  return (next) => async (request) => {
    const kind = kindOf(request.method);
    const state = request.contextValues.get(callStateKey);
    if (kind === undefined || state === undefined) return next(request);
    let code = "OK";
    let entered = false;
    try {
      limits.takeAddress(kind, state.peer, state.headers);
      admission.enter(kind);
      entered = true;
      return await next(request);
    } catch (error) {
      code = error instanceof ConnectError ? "PROTOCOL" : failureOf(error).code;
      throw error;
    } finally {
      if (entered) admission.leave(kind);
      if (kind === "build") state.headers.push("Server-Timing", state.stages.describe());
      observe({
        method: request.method.name,
        requestId: requestIdOf(request),
        code,
        durationMs: monotonicMs() - state.stages.startMs,
        stages: state.stages,
        keyId: state.keyId,
        traceparent: headerOf(request, "traceparent"),
      });
    }
  };
}

/** Holds calls to the limits of their key. Comes after authentication. */
export function limitKeys(limits: RateLimits, keyIdOf: (request: Parameters<ReturnType<Interceptor>>[0]) => string) {
  const interceptor: Interceptor = (next) => (request) => {
    const kind = kindOf(request.method);
    const state = request.contextValues.get(callStateKey);
    if (kind === undefined || kind === "open" || state === undefined) return next(request);
    state.keyId = keyIdOf(request);
    state.stages.mark("auth");
    limits.takeKey(kind, state.keyId, state.headers);
    return next(request);
  };
  return interceptor;
}
