import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { TradeService } from "../../../gen/tradewire/v1/trade_pb.ts";
import type { Admission } from "../call/admission.ts";
import { type CallObserver, StageClock } from "../call/call-record.ts";
import { monotonicMs } from "../call/call-state.ts";
import { httpStatusOf, toEnvelope } from "../call/failure.ts";
import { kindOf } from "../call/gate.ts";
import { restBindingOf } from "./rest-routes.ts";

/** Longest body that is left to the HTTP library to read past. */
const SMALL_BODY_BYTES = 4_096;

/**
 * Answers builds over REST that are refused for overload as soon as their head is there: nothing is read, decoded or
 * authenticated, so that a flood of them takes little from what is served. Where they come faster than they can be answered
 * beside that, they wait for their answers. What has anything unusual about it goes the ordinary way and is refused there.
 */
export function shedBuilds(
  handler: RequestListener,
  edge: { readonly admission: Admission; readonly requestIds: () => string; readonly observe: CallObserver },
): RequestListener {
  const methods = new Map<string, string>();
  for (const method of TradeService.methods) {
    const binding = kindOf(method) === "build" ? restBindingOf(method) : undefined;
    if (binding?.verb === "POST") methods.set(binding.path, method.name);
  }
  const { buildRefusal } = edge.admission;
  const status = httpStatusOf(buildRefusal);
  const retryAfter = String(Math.ceil(buildRefusal.facts.retryAfterMs! / 1_000));
  const [beforeId, afterId] = toEnvelope(buildRefusal, "\u0001").split("\\u0001") as [string, string];
  const refuse = (request: IncomingMessage, response: ServerResponse, method: string, stages: StageClock) => {
    // Who waited for the answer may have left.
    if (response.destroyed) return;
    edge.admission.refuseBuild();
    const requestId = edge.requestIds();
    const body = beforeId + requestId + afterId;
    response.writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      "content-length": body.length,
      "retry-after": retryAfter,
      "x-request-id": requestId,
    });
    response.end(body);
    edge.observe({
      method,
      requestId,
      code: buildRefusal.code,
      durationMs: monotonicMs() - stages.startMs,
      stages,
      keyId: undefined,
      traceparent: request.headers.traceparent as string | undefined,
    });
  };
  return (request, response) => {
    const method = methods.get(request.url!);
    if (method === undefined || !isUsual(request) || !edge.admission.refusesBuild()) {
      handler(request, response);
      return;
    }
    const stages = new StageClock(monotonicMs);
    const due = edge.admission.refusals.next();
    if (due === undefined) refuse(request, response, method, stages);
    else {
      void due.then(() => {
        if (edge.admission.refusesBuild()) refuse(request, response, method, stages);
        else handler(request, response);
      });
    }
  };
}

function isUsual({ method, headers }: IncomingMessage): boolean {
  // Pages of other origins need headers of their own to see the answer.
  return method === "POST" && headers.origin === undefined && Number(headers["content-length"]) <= SMALL_BODY_BYTES;
}
