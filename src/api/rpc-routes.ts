import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CallState, callStateKey, writeAnswerHeaders } from "./call-state.ts";
import { failureOf, toConnectError } from "./failure.ts";
import { requestIdKey } from "./interceptors.ts";
import { Call, type Invoker } from "./invoker.ts";
import { readBody } from "./read-body.ts";
import { createRpcLanes, type RpcLane } from "./rpc-lanes.ts";
import type { ApiLogger, ApiSettings } from "./settings.ts";

interface RpcEdge {
  readonly fastify: FastifyInstance;
  readonly settings: ApiSettings;
  readonly logger: ApiLogger;
  readonly requestIds: () => string;
  readonly invokerOf: (method: DescMethodUnary) => Invoker;
}

/** Registers every method of a router for Connect, gRPC and gRPC-Web. */
export function registerRpcRoutes(edge: RpcEdge, router: ConnectRouter): void {
  for (const handler of router.handlers) {
    const { method } = handler;
    const runUnusual = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      reply.hijack();
      try {
        const values = createContextValues().set(callStateKey, new CallState(request.ip));
        const universal = universalRequestFromNodeRequest(request.raw, reply.raw, undefined, values);
        await universalResponseToNodeResponse(await handler(universal), reply.raw);
      } catch (error) {
        // The caller went away, or the stream broke while it was being written: there is nobody left to tell.
        edge.logger.warn({ err: error, method: method.name }, "call broke off");
        if (!reply.raw.writableEnded) reply.raw.destroy();
      }
    };
    if (method.methodKind !== "unary") {
      edge.fastify.post(handler.requestPath, runUnusual);
      continue;
    }
    const lanes = createRpcLanes(method as DescMethodUnary);
    const invoke = edge.invokerOf(method as DescMethodUnary);
    edge.fastify.post(handler.requestPath, (request, reply) => {
      const lane = lanes.select(request.raw);
      if (lane === undefined) return runUnusual(request, reply);
      reply.hijack();
      return runLane(edge, method as DescMethodUnary, invoke, lane, request, reply);
    });
  }
}

async function runLane(
  edge: RpcEdge,
  method: DescMethodUnary,
  invoke: Invoker,
  lane: RpcLane,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const requestId = edge.requestIds();
  const { bodyLimitBytes, requestTimeoutMs } = edge.settings;
  const state = new CallState(request.ip);
  const values = createContextValues().set(requestIdKey, requestId).set(callStateKey, state);
  try {
    const deadlineMs = lane.deadlineMs(request.headers);
    const body = await readBody(request.raw, bodyLimitBytes + lane.overheadBytes, requestTimeoutMs);
    state.stages.mark("receive");
    const run = (signal: AbortSignal | undefined): Promise<Message> => {
      const call = new Call(method, "POST", request.url, request.headers, () => lane.decode(body), signal, values);
      return invoke(call);
    };
    const message = await (deadlineMs === undefined ? run(undefined) : runWithin(deadlineMs, run));
    writeAnswerHeaders(reply.raw, values);
    lane.answer(reply.raw, message);
  } catch (error) {
    if (!(error instanceof ConnectError) && failureOf(error).code === "INTERNAL_ERROR") {
      edge.logger.error({ err: error, requestId, method: method.name }, "call failed");
    }
    writeAnswerHeaders(reply.raw, values, failureOf(error));
    lane.refuse(reply.raw, error instanceof ConnectError ? error : toConnectError(failureOf(error), requestId));
  }
}

/** @throws ConnectError deadline_exceeded */
async function runWithin(deadlineMs: number, run: (signal: AbortSignal) => Promise<Message>): Promise<Message> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new ConnectError("the caller's deadline has passed", Code.DeadlineExceeded);
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
