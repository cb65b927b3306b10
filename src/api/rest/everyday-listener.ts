import type { RequestListener } from "node:http";
import type { Admission } from "../call/admission.ts";
import type { CallObserver } from "../call/call-record.ts";
import type { StartCall } from "../call/call-state.ts";
import type { Gate } from "../call/gate.ts";
import { routeInTurns } from "../http/flow/router-turns.ts";
import { PlainLane, type ServingConnections } from "../http/lane/plain-lane.ts";
import type { OpenedStream } from "../http/lane/stream-exchange.ts";
import type { EverydayCalls } from "../rpc/everyday-call.ts";
import type { ApiSettings } from "../settings.ts";
import { BuildShedder } from "./build-shedder.ts";
import { EverydayRequests, everydayRoutes } from "./everyday-requests.ts";
import { LimitRefuser } from "./limit-refuser.ts";
import type { RestRoute } from "./rest-route.ts";

const TRACEPARENT = /\r\ntraceparent: ?([^\r]*)/i;

interface EverydayParts {
  readonly settings: ApiSettings;
  readonly admission: Admission;
  readonly restRoutes: readonly RestRoute[];
  /** Of the typed wires, by path. */
  readonly calls: ReadonlyMap<string, EverydayCalls>;
  readonly requestIds: () => string;
  readonly observe: CallObserver;
  readonly gate: Gate;
  readonly startCall: StartCall;
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** The wall clock, for the date of answers. Milliseconds since 1970. */
  readonly wallMs: () => number;
  readonly isClosing: () => boolean;
}

/** Serves everyday requests before the router sees them, and further ones of their connections before the HTTP server does. */
export class EverydayListener {
  readonly #requests: EverydayRequests;
  readonly #lane: PlainLane;

  constructor(parts: EverydayParts) {
    const { settings, admission, calls, requestIds, observe, nowMs, wallMs, isClosing } = parts;
    const routes = everydayRoutes(parts.restRoutes);
    const shedder = new BuildShedder({
      admission,
      requestIds,
      observe,
      nowMs,
      onRefused: (request, response) => this.#lane.watch(request, response),
    });
    const refuser = new LimitRefuser(parts);
    const requests = new EverydayRequests({ routes, calls, settings, shedder });
    this.#requests = requests;
    this.#lane = new PlainLane({
      settings,
      isClosing,
      wallMs,
      refuse: (request, remoteAddress, wasLimited) => {
        const known = routes.get(request.path);
        if (known === undefined) return undefined;
        if (known.isBuild && shedder.refuses(Number(request.length))) {
          return shedder.refuseDue(known.route.method.name, TRACEPARENT.exec(request.lines)?.[1]);
        }
        // Behind proxies only the router knows whom a call comes from.
        if (!requests.mayBypass || !wasLimited) return undefined;
        return refuser.refuseDue(known.route, request, remoteAddress ?? "");
      },
      serve: requests.mayBypass ? (request, response) => requests.takeWhole(request, response) : undefined,
    });
  }

  /** Connections of calls in flight that look idle to the HTTP server. */
  get serving(): ServingConnections {
    return this.#lane;
  }

  /** Serves a call on an HTTP/2 stream; false, with nothing done, for what the HTTP server has to serve. */
  readonly takeStream = (opened: OpenedStream): boolean => this.#requests.takeStream(opened);

  /** A listener for the HTTP servers. @param router serves everything else */
  before(router: RequestListener): RequestListener {
    const route = routeInTurns(router);
    return (request, response) => {
      if (!this.#requests.take(request, response, router)) route(request, response);
      else if (this.#requests.mayBypass) this.#lane.watch(request, response);
    };
  }
}
