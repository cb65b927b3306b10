import { setTimeout as sleep } from "node:timers/promises";
import {
  create,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  type Message,
} from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { createBinaryTransport } from "../../../src/client/connection/connect-transport.ts";
import { type Field, messageOf, registry, service, toFields } from "./definition.ts";
import { readMessage, writeMessage } from "./frames.ts";

// The client library's own transport, calling as the suite says on stdin; what came back goes to stdout.

interface ClientRequest extends Message {
  readonly testName: string;
  readonly host: string;
  readonly port: number;
  readonly method?: string;
  readonly requestHeaders: readonly Field[];
  readonly requestMessages: readonly Any[];
  readonly timeoutMs?: number;
  readonly requestDelayMs: number;
  readonly cancel?: {
    readonly cancelTiming: { readonly case: string | undefined; readonly value?: unknown };
  };
}

type Answer = Message & { readonly payload?: Message };

/** What one call came to. */
class Outcome {
  responseHeaders: Field[] = [];
  responseTrailers: Field[] = [];
  readonly payloads: Message[] = [];
  error: object | undefined;

  take({ payload = create(messageOf("ConformancePayload")) }: Answer): void {
    this.payloads.push(payload);
  }

  fail(thrown: unknown): void {
    const failure = ConnectError.from(thrown);
    const details = failure.details.map((detail) =>
      "type" in detail ? { typeUrl: `type.googleapis.com/${detail.type}`, value: detail.value } : {},
    );
    this.error = { code: failure.code, message: failure.rawMessage, details };
    // A refusal carries what would have been headers and trailers.
    const metadata = toFields(failure.metadata);
    if (this.responseHeaders.length === 0) this.responseHeaders = metadata;
    if (this.responseTrailers.length === 0) this.responseTrailers = metadata;
  }
}

async function call(asked: ClientRequest): Promise<Outcome> {
  const outcome = new Outcome();
  const method = service.methods.find(({ name }) => name === asked.method)!;
  const transport = createBinaryTransport(`http://${asked.host}:${asked.port}`);
  const headers = new Headers();
  for (const { name, value } of asked.requestHeaders) for (const one of value) headers.append(name, one);
  const controller = new AbortController();
  const timing = asked.cancel?.cancelTiming;
  const cancelAfter = timing?.case === "afterNumResponses" ? Number(timing.value) : undefined;
  if (timing !== undefined && cancelAfter === undefined) {
    setTimeout(() => controller.abort(), Number(timing.value ?? 0));
  }
  const [request] = asked.requestMessages.map((any) => anyUnpack(any, registry)!);
  await sleep(asked.requestDelayMs);
  try {
    if (isUnary(method)) {
      const { signal } = controller;
      const answer = await transport.unary(method, signal, asked.timeoutMs, headers, request!);
      outcome.responseHeaders = toFields(answer.header);
      outcome.responseTrailers = toFields(answer.trailer);
      outcome.take(answer.message);
    } else {
      const { signal } = controller;
      const input = only(request!);
      const answer = await transport.stream(method as DescMethodStreaming, signal, asked.timeoutMs, headers, input);
      outcome.responseHeaders = toFields(answer.header);
      try {
        for await (const message of answer.message) {
          outcome.take(message);
          if (outcome.payloads.length === cancelAfter) controller.abort();
        }
      } finally {
        outcome.responseTrailers = toFields(answer.trailer);
      }
    }
  } catch (error) {
    outcome.fail(error);
  }
  return outcome;
}

async function* only(message: Message): AsyncGenerator<Message> {
  yield message;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

for (;;) {
  const asked = readMessage(messageOf("ClientCompatRequest")) as ClientRequest | undefined;
  if (asked === undefined) break;
  const { responseHeaders, responseTrailers, payloads, error } = await call(asked);
  const value = { responseHeaders, responseTrailers, payloads, ...(error === undefined ? {} : { error }) };
  writeMessage(messageOf("ClientCompatResponse"), {
    testName: asked.testName,
    result: { case: "response", value },
  });
}
