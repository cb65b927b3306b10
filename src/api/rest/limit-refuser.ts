import { responseHeaders, type StartCall } from "../call/call-state.ts";
import { failureOfCall } from "../call/failure.ts";
import type { Gate, GatedCall } from "../call/gate.ts";
import { ENVELOPE_HEADERS, httpStatusOf, toEnvelope } from "../http/envelope.ts";
import type { Refusal } from "../http/lane/lane-connection.ts";
import type { WholeRequest } from "../http/lane/whole-request.ts";
import type { RestRoute } from "./rest-route.ts";

interface RefuserParts {
  readonly gate: Pick<Gate, "refuseNow">;
  readonly startCall: StartCall;
}

/**
 * Refuses calls beyond a limit from their bytes alone, as the route would: nothing is parsed or decoded, so that a caller who asks
 * far too much costs others little. Looks only at connections that were refused lately.
 */
export class LimitRefuser {
  readonly #parts: RefuserParts;

  constructor(parts: RefuserParts) {
    this.#parts = parts;
  }

  /** The response to a call beyond its limit; undefined, with nothing counted, if the route has to decide. */
  refuseDue({ method }: RestRoute, request: WholeRequest, peer: string): Refusal | undefined {
    const { headers } = request;
    if (headers === undefined) return undefined;
    const state = this.#parts.startCall(peer);
    state.stages.mark("receive");
    const headerOf: GatedCall["headerOf"] = (name) => headers[name] as string | undefined;
    const failure = this.#parts.gate.refuseNow({ method, state, headerOf, message: undefined });
    if (failure === undefined) return undefined;
    const body = toEnvelope(failureOfCall({ method }, failure), state.requestId);
    return {
      status: httpStatusOf(failure),
      headers: [...ENVELOPE_HEADERS, "Content-Length", String(body.length), ...responseHeaders(state, failure)],
      body,
    };
  }
}
