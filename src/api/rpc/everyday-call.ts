import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary, DescService, Registry } from "@bufbuild/protobuf";
import type { StartCall } from "../call/call-state.ts";
import type { Invoker } from "../call/invoker.ts";
import type { ApiSettings } from "../settings.ts";
import { type ExchangeParts, UnaryExchange } from "./unary-exchange.ts";
import { Wires } from "./wires.ts";

/** What everyday calls need of the edge. */
interface EverydayEdge {
  readonly settings: ApiSettings;
  readonly startCall: StartCall;
  readonly invokerOf: (method: DescMethodUnary) => Invoker;
  /** Resolves google.protobuf.Any in JSON; undefined if no message contains one. */
  readonly registry: Registry | undefined;
}

/** Serves the calls of one unary method in everyday form, on the typed wires. */
export class EverydayCalls {
  readonly path: string;
  readonly #parts: ExchangeParts;
  readonly #startCall: StartCall;
  readonly #wires: Wires;

  constructor(edge: EverydayEdge, method: DescMethodUnary) {
    this.path = `/${method.parent.typeName}/${method.name}`;
    this.#parts = { method, invoke: edge.invokerOf(method), settings: edge.settings };
    this.#startCall = edge.startCall;
    this.#wires = new Wires(method, edge.registry);
  }

  /**
   * Serves a request to the end of its response, whatever the outcome.
   *
   * @param peer the client's address
   * @param onTake called before anything is read or written, if the request is served
   * @returns false for a request in any other form, with nothing done
   */
  take(request: IncomingMessage, response: ServerResponse, peer: string, onTake?: () => void): boolean {
    const wire = request.method === "POST" ? this.#wires.select(request) : undefined;
    if (wire === undefined) return false;
    onTake?.();
    const state = this.#startCall(peer);
    state.response = response;
    new UnaryExchange(this.#parts, wire, state, request, response).run();
    return true;
  }
}

/** The everyday calls of every unary method of the services, by path. */
export function createEverydayCalls(
  edge: EverydayEdge,
  services: readonly DescService[],
): ReadonlyMap<string, EverydayCalls> {
  const calls = services
    .flatMap(({ methods }) => methods)
    .flatMap((method) => (method.methodKind === "unary" ? [new EverydayCalls(edge, method as DescMethodUnary)] : []));
  return new Map(calls.map((call) => [call.path, call]));
}
