import { setTimeout as sleep } from "node:timers/promises";
import type { Message } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type HandlerContext } from "@connectrpc/connect";
import {
  type ErrorDefinition,
  type Field,
  messageOf,
  type Request,
  registry,
  type StreamDefinition,
  toFields,
  type UnaryDefinition,
} from "./definition.ts";

const requestInfo = messageOf("ConformancePayload.RequestInfo");

/** The service that the suite calls: it answers as each request demands and reports the request it received. */
export const implementation = {
  unary: (request: Request<UnaryDefinition>, context: HandlerContext) =>
    answer(request.responseDefinition, context, [request]),

  idempotentUnary: (request: Request<UnaryDefinition>, context: HandlerContext) =>
    answer(request.responseDefinition, context, [request]),

  async clientStream(requests: AsyncIterable<Request<UnaryDefinition>>, context: HandlerContext) {
    const seen: Request<UnaryDefinition>[] = [];
    for await (const request of requests) seen.push(request);
    return answer(seen[0]?.responseDefinition, context, seen);
  },

  async *serverStream(request: Request<StreamDefinition>, context: HandlerContext) {
    yield* stream(request.responseDefinition, context, [request]);
  },

  async *bidiStream(requests: AsyncIterable<Request<StreamDefinition>>, context: HandlerContext) {
    const iterator = requests[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done) return;
    const { responseDefinition, fullDuplex } = first.value;
    let seen: Message[] = [first.value];
    if (!fullDuplex) {
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) seen.push(next.value);
      yield* stream(responseDefinition, context, seen);
      return;
    }
    if (responseDefinition === undefined) return;
    addMetadata(responseDefinition, context);
    let sent = 0;
    // One answer per request, and the rest of the answers once there are no more requests.
    let open = true;
    for (const data of responseDefinition.responseData) {
      await sleep(responseDefinition.responseDelayMs);
      yield {
        payload: {
          data,
          ...(open ? { requestInfo: sent === 0 ? infoOf(context, seen) : { requests: seen.map(pack) } } : {}),
        },
      };
      sent++;
      if (!open) continue;
      const next = await iterator.next();
      open = !next.done;
      seen = next.done ? [] : [next.value];
    }
    refuse(responseDefinition.error, sent === 0 ? infoOf(context, seen) : undefined);
  },
};

async function answer(definition: UnaryDefinition | undefined, context: HandlerContext, seen: readonly Message[]) {
  const info = infoOf(context, seen);
  if (definition === undefined) return { payload: { requestInfo: info } };
  addMetadata(definition, context);
  await sleep(definition.responseDelayMs);
  const { response } = definition;
  if (response.case === "error") refuse(response.value, info);
  const data = response.case === "responseData" ? response.value : new Uint8Array();
  return { payload: { data, requestInfo: info } };
}

async function* stream(definition: StreamDefinition | undefined, context: HandlerContext, seen: readonly Message[]) {
  if (definition === undefined) return;
  addMetadata(definition, context);
  let sent = 0;
  for (const data of definition.responseData) {
    await sleep(definition.responseDelayMs);
    yield { payload: { data, ...(sent === 0 ? { requestInfo: infoOf(context, seen) } : {}) } };
    sent++;
  }
  refuse(definition.error, sent === 0 ? infoOf(context, seen) : undefined);
}

function addMetadata(
  definition: { readonly responseHeaders: readonly Field[]; readonly responseTrailers: readonly Field[] },
  context: HandlerContext,
): void {
  append(context.responseHeader, definition.responseHeaders);
  append(context.responseTrailer, definition.responseTrailers);
}

function append(headers: Headers, fields: readonly Field[]): void {
  for (const { name, value } of fields) for (const one of value) headers.append(name, one);
}

/** Does nothing where no error is asked for. @throws ConnectError as asked */
function refuse(error: ErrorDefinition | undefined, info: ReturnType<typeof infoOf> | undefined): void {
  if (error === undefined) return;
  const failure = new ConnectError(error.message ?? "", error.code);
  for (const any of error.details) {
    failure.details.push({ type: any.typeUrl.slice(any.typeUrl.lastIndexOf("/") + 1), value: any.value });
  }
  if (info !== undefined) failure.details.push({ desc: requestInfo, value: info });
  throw failure;
}

/** What was seen of a request. */
function infoOf(context: HandlerContext, seen: readonly Message[]) {
  const timeoutMs = context.timeoutMs();
  return {
    requestHeaders: toFields(context.requestHeader),
    requests: seen.map(pack),
    ...(timeoutMs === undefined ? {} : { timeoutMs: BigInt(Math.ceil(timeoutMs)) }),
    ...(context.requestMethod === "GET"
      ? { connectGetInfo: { queryParams: toFields(new URL(context.url).searchParams) } }
      : {}),
  };
}

function pack(message: Message): Any {
  return anyPack(registry.getMessage(message.$typeName)!, message);
}
