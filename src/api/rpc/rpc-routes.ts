import type { IncomingMessage, ServerResponse } from "node:http";
import { create, type DescMethod, type DescMethodUnary, isMessage, type Registry } from "@bufbuild/protobuf";
import { ConnectError, type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { Call } from "../call/call.ts";
import { answerHeaders, CallState, callStateKey, forEachHeader } from "../call/call-state.ts";
import { failureOfCall, toConnectError } from "../call/failure.ts";
import type { Invoker, Output } from "../call/invoker.ts";
import { isOpen } from "../http/open-response.ts";
import { endUnreadBody, readBody } from "../http/read-body.ts";
import type { ApiLogger, ApiSettings } from "../settings.ts";
import { createRpcLanes, FRAME_HEAD, type RpcLane } from "./wires.ts";

interface RpcEdge {
  readonly fastify: FastifyInstance;
  readonly settings: ApiSettings;
  readonly logger: ApiLogger;
  readonly requestIds: () => string;
  readonly invokerOf: (method: DescMethodUnary) => Invoker;
  /** The types that messages hold by their name alone. */
  readonly registry: Registry | undefined;
}

/** Registers every method of a router for Connect, gRPC and gRPC-Web. */
export function registerRpcRoutes(edge: RpcEdge, router: ConnectRouter): void {
  for (const handler of router.handlers) {
    const { method } = handler;
    const runUnusual = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      reply.hijack();
      try {
        const state = new CallState(edge.requestIds(), request.ip);
        const values = createContextValues().set(callStateKey, state);
        const universal = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, values);
        endUnreadBody(request.raw, reply.raw);
        // The library leaves a body that it has read enough of, which must not take the connection along.
        const body: AsyncIterable<Uint8Array> = ONE_MESSAGE.has(method.methodKind)
          ? wholeBody(request.raw, edge.settings, (failure) => toConnectError(failure, state.requestId, method.parent))
          : request.raw.iterator({ destroyOnReturn: false });
        const answer = await handler({ ...universal, body });
        // What the library refuses by itself never became a call.
        const header = new Headers(answer.header);
        if (!header.has("X-Request-Id")) header.set("X-Request-Id", state.requestId);
        await universalResponseToNodeResponse({ ...answer, header }, reply.raw);
      } catch (error) {
        // The caller went away, or the stream broke while it was being written: there is nobody left to tell.
        edge.logger.warn({ err: error, method: method.name }, "call broke off");
        if (!reply.raw.writableEnded) reply.raw.destroy();
      }
    };
    // Connect asks for what has no side effects in a query too.
    if (handler.allowedMethods.includes("GET")) edge.fastify.get(handler.requestPath, runUnusual);
    if (method.methodKind !== "unary") {
      edge.fastify.post(handler.requestPath, runUnusual);
      continue;
    }
    const lanes = createRpcLanes(method as DescMethodUnary, edge.registry);
    const invoke = edge.invokerOf(method as DescMethodUnary);
    edge.fastify.post(handler.requestPath, (request, reply) => {
      const lane = lanes.select(request.raw);
      if (lane === undefined) return runUnusual(request, reply);
      reply.hijack();
      runLane(edge, method as DescMethodUnary, invoke, lane, request, reply.raw);
    });
  }
}

/** Kinds of methods that are asked with one message. */
const ONE_MESSAGE: ReadonlySet<DescMethod["methodKind"]> = new Set(["unary", "server_streaming"]);

async function* wholeBody(
  request: IncomingMessage,
  settings: ApiSettings,
  refusalOf: (failure: TradewireError) => ConnectError,
): AsyncGenerator<Uint8Array> {
  const limits = { ...settings, bodyLimitBytes: settings.bodyLimitBytes + FRAME_HEAD };
  const body = await new Promise<Buffer | TradewireError>((resolve) => readBody(request, limits, resolve));
  if (body instanceof TradewireError) throw refusalOf(body);
  yield body;
}

function runLane(
  edge: RpcEdge,
  method: DescMethodUnary,
  invoke: Invoker,
  lane: RpcLane,
  request: FastifyRequest,
  response: ServerResponse,
): void {
  const state = new CallState(edge.requestIds(), request.ip);
  const { url, headers } = request;
  let call: Call | undefined;
  const setHeaders = (failure?: TradewireError): void => {
    forEachHeader(answerHeaders(state, failure), (name, value) => response.setHeader(name, value));
    for (const [name, value] of call?.addedHeader ?? []) response.setHeader(name, value);
  };
  const refuse = (error: unknown): void => {
    if (!isOpen(response)) {
      response.destroy();
      return;
    }
    const failure = error instanceof ConnectError ? undefined : failureOfCall({ method }, error);
    setHeaders(failure);
    const refusal =
      failure === undefined ? (error as ConnectError) : toConnectError(failure, state.requestId, method.parent);
    lane.refuse(response, refusal, call?.addedTrailer);
  };
  const answer = (output: Output): void => {
    if (!isOpen(response)) return;
    const message = isMessage(output) ? output : create(method.output, output);
    setHeaders();
    lane.answer(response, message, call?.addedTrailer);
  };
  const limits = { ...edge.settings, bodyLimitBytes: edge.settings.bodyLimitBytes + lane.overheadBytes };
  readBody(request.raw, limits, (body) => {
    try {
      if (body instanceof TradewireError) throw body;
      state.stages.mark("receive");
      const deadlineMs = lane.deadlineMs(headers);
      const decode = () => lane.decode(body);
      const run = (signal: AbortSignal | undefined) => {
        call = new Call(method, state, { requestMethod: "POST", url, headers, decode, signal, deadlineMs });
        return invoke(call);
      };
      const output = deadlineMs === undefined ? run(undefined) : runWithin(deadlineMs, run);
      if (output instanceof Promise) output.then(answer).catch(refuse);
      else answer(output);
    } catch (error) {
      refuse(error);
    }
  });
}

/** @throws TradewireError REQUEST_TIMEOUT */
async function runWithin(deadlineMs: number, run: (signal: AbortSignal) => Output | Promise<Output>): Promise<Output> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TradewireError(
        "REQUEST_TIMEOUT",
        "The call's own deadline passed before its answer was there.",
      );
      controller.abort(error);
      reject(error);
    }, deadlineMs);
  });
  try {
    return await Promise.race([run(controller.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
