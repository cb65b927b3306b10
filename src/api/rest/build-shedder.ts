import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission } from "../call/admission.ts";
import { type CallObserver, StageClock } from "../call/call-record.ts";
import { ENVELOPE_HEADERS, httpStatusOf, toEnvelope } from "../http/envelope.ts";
import type { Refusal } from "../http/lane/lane-connection.ts";
import type { OnRefused } from "../http/lane/plain-lane.ts";
import { isConnected } from "../http/open-response.ts";
import { endUntouchedBody } from "../http/read-body.ts";

/** Longest body that Node reads past without help. */
const SMALL_BODY_BYTES = 4_096;

interface ShedderParts {
  readonly admission: Admission;
  readonly requestIds: () => string;
  readonly observe: CallObserver;
  readonly onRefused: OnRefused;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/**
 * Refuses builds under overload as soon as their headers have arrived, without reading, decoding or authenticating
 * anything, so that a flood of them costs little. Refusals that come too fast are delayed.
 */
export class BuildShedder {
  readonly #parts: ShedderParts;
  readonly #status: number;
  readonly #headers: readonly string[];
  /** The body before and after the request id. */
  readonly #body: readonly [string, string];

  constructor(parts: ShedderParts) {
    const { buildRefusal } = parts.admission;
    this.#parts = parts;
    this.#status = httpStatusOf(buildRefusal);
    const retryAfter = String(Math.ceil(buildRefusal.facts.retryAfterMs! / 1_000));
    this.#headers = [...ENVELOPE_HEADERS, "retry-after", retryAfter, "content-length"];
    this.#body = toEnvelope(buildRefusal, "\u0001").split("\\u0001") as [string, string];
  }

  /** True if a build whose body is this long is refused now. @param bodyBytes NaN if its length is not declared */
  refuses(bodyBytes: number): boolean {
    return bodyBytes <= SMALL_BODY_BYTES && this.#parts.admission.refusesBuild();
  }

  /** Refuses a build, once its refusal is due. @param serve serves it instead if there is room by then */
  shed(method: string, request: IncomingMessage, response: ServerResponse, serve: () => void): void {
    const { admission, nowMs } = this.#parts;
    const stages = new StageClock(nowMs);
    const due = admission.refusals.next("", response);
    if (due === undefined) this.#refuse(method, request, response, stages);
    else {
      void due.then(() => {
        if (!isConnected(response)) return;
        if (admission.refusesBuild()) this.#refuse(method, request, response, stages);
        else serve();
      });
    }
  }

  #refuse(method: string, request: IncomingMessage, response: ServerResponse, stages: StageClock): void {
    const { status, headers, body } = this.#refusal(method, stages, request.headers.traceparent as string | undefined);
    endUntouchedBody(request);
    response.writeHead(status, headers as string[]);
    response.end(body);
    this.#parts.onRefused(request, response);
  }

  /** The response to a build while builds are refused; undefined if its refusal is not due yet. */
  refuseDue(method: string, traceparent: string | undefined): Refusal | undefined {
    const { admission, nowMs } = this.#parts;
    return admission.refusals.takeDue() ? this.#refusal(method, new StageClock(nowMs), traceparent) : undefined;
  }

  /** The response to one refused build, which is counted and observed. */
  #refusal(method: string, stages: StageClock, traceparent: string | undefined): Refusal {
    const { code } = this.#parts.admission.refuseBuild();
    const requestId = this.#parts.requestIds();
    const body = this.#body[0] + requestId + this.#body[1];
    const headers = [...this.#headers, String(body.length), "x-request-id", requestId];
    const durationMs = stages.nowMs() - stages.startMs;
    this.#parts.observe({ method, requestId, code, durationMs, stages, keyId: undefined, traceparent });
    return { status: this.#status, headers, body };
  }
}
