import type { Socket } from "node:net";
import type { CallState, StartCall } from "../call/call-state.ts";
import { responseHeaders } from "../call/call-state.ts";
import { failureOfCall } from "../call/failure.ts";
import type { Gate } from "../call/gate.ts";
import { httpStatusOf, JSON_TYPE, toEnvelope } from "../http/envelope.ts";
import type { Refusal } from "../http/flow/refusal-lane.ts";
import type { WholeRequest } from "../http/flow/whole-request.ts";
import type { BuildShedder } from "./build-shedder.ts";
import type { EverydayRoutes } from "./everyday-requests.ts";
import type { RestRoute } from "./rest-route.ts";

interface RefusedAgainParts {
  readonly routes: EverydayRoutes;
  readonly shedder: BuildShedder;
  readonly gate: Gate;
  readonly startCall: StartCall;
  /** True if connections come from callers themselves and not from a proxy. */
  readonly knowsPeers: boolean;
}

const HEADERS: Readonly<Record<string, RegExp>> = {
  authorization: /\r\nauthorization: ?([^\r]*)/i,
  traceparent: /\r\ntraceparent: ?([^\r]*)/i,
};

/** Refuses by their bytes, on connections refused before: builds under overload, and calls of keys whose limit is used up. */
export class RefusedAgain {
  readonly #parts: RefusedAgainParts;

  constructor(parts: RefusedAgainParts) {
    this.#parts = parts;
  }

  /** The response to a request that is refused; undefined, with nothing counted, if it is to be served. */
  refuse({ path, lines }: WholeRequest, socket: Socket): Refusal | undefined {
    const { routes, shedder, knowsPeers } = this.#parts;
    const known = routes.get(path);
    if (known === undefined) return undefined;
    const headerOf = (name: string) => HEADERS[name]?.exec(lines)?.[1];
    if (known.isBuild && shedder.isFull) return shedder.refuseDue(known.route.method.name, headerOf("traceparent"));
    return knowsPeers ? this.#refuseLimited(known.route, headerOf, socket.remoteAddress ?? "") : undefined;
  }

  #refuseLimited({ method }: RestRoute, headerOf: (name: string) => string | undefined, peer: string) {
    const { gate, startCall } = this.#parts;
    let started: CallState | undefined;
    const state = () => {
      started ??= startCall(peer);
      return started;
    };
    const failure = gate.refuseLimited({
      method,
      get state() {
        return state();
      },
      headerOf,
      message: undefined,
    });
    if (failure === undefined) return undefined;
    const said = failureOfCall({ method }, failure);
    const body = toEnvelope(said, state().requestId);
    const own = ["Content-Type", JSON_TYPE, "Content-Length", String(body.length)];
    return { status: httpStatusOf(said), headers: [...own, ...responseHeaders(state(), said)], body };
  }
}
