import {
  create,
  type DescMessage,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type StreamResponse, type Transport, type UnaryResponse } from "@connectrpc/connect";
import { BodyReader } from "./body-reader.ts";
import { checkMessageCount } from "./message-count.ts";

type Method = DescMethodUnary | DescMethodStreaming;

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: readonly { readonly type?: unknown; readonly value?: unknown }[];
}

interface EndOfStream {
  readonly error?: ErrorBody | null;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

/** Flag of an enveloped message: compressed, which the client never requests. */
const COMPRESSED = 1;
/** Flag of an enveloped message: the last of its stream, as JSON. */
const END_OF_STREAM = 2;
const ENVELOPE_HEAD = 5;
/** Bytes of a refusal at most: far above one of the service, or a proxy's page. */
const MOST_REFUSAL_BYTES = 1 << 17;

/**
 * The binary Connect protocol over `fetch`, for unary calls and server streams: all that this service uses.
 * A full transport also supports JSON and is ten kilobytes larger; pass one to `connect` to replace this one.
 *
 * @see https://connectrpc.com/docs/protocol
 */
export function createBinaryTransport(baseUrl: string): Transport {
  return {
    async unary<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: MessageInitShape<I>,
    ): Promise<UnaryResponse<I, O>> {
      const limits = new Limits(signal, timeoutMs);
      return limits.hold(async () => {
        const body = toBinary(method.input, asMessage(method.input, input));
        const response = await post(baseUrl, method, "application/proto", limits.signal, timeoutMs, header, body);
        if (response.status !== 200) throw await refusal(response);
        checkType(response, "application/proto");
        const message = decode(method.output, await new BodyReader(response).rest());
        const [headers, trailer] = demux(response.headers);
        return { stream: false, service: method.parent, method, header: headers, trailer, message };
      });
    },

    async stream<I extends DescMessage, O extends DescMessage>(
      method: DescMethodStreaming<I, O>,
      signal: AbortSignal | undefined,
      timeoutMs: number | undefined,
      header: HeadersInit | undefined,
      input: AsyncIterable<MessageInitShape<I>>,
    ): Promise<StreamResponse<I, O>> {
      if (method.methodKind !== "server_streaming") {
        throw new ConnectError("only server streaming is supported", Code.Unimplemented);
      }
      const limits = new Limits(signal, timeoutMs);
      const response = await limits.hold(async () => {
        let body: Uint8Array<ArrayBuffer> = envelope(new Uint8Array());
        for await (const message of input) body = envelope(toBinary(method.input, asMessage(method.input, message)));
        const begun = await post(baseUrl, method, "application/connect+proto", limits.signal, timeoutMs, header, body);
        if (begun.status !== 200 || begun.body === null) throw await refusal(begun);
        checkType(begun, "application/connect+proto");
        return begun;
      });
      const trailer = new Headers();
      const message = readStream(response, method.output, trailer, limits);
      return { stream: true, service: method.parent, method, header: response.headers, trailer, message };
    },
  };
}

function asMessage<D extends DescMessage>(schema: D, input: MessageInitShape<D>): MessageShape<D> {
  return create(schema, input);
}

/** Combines the caller's signal with the call's time-out and records which one ended the call. */
class Limits {
  readonly signal: AbortSignal | null;
  readonly #caller: AbortSignal | undefined;
  readonly #timeout: AbortSignal | undefined;

  constructor(caller: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#caller = caller;
    this.#timeout = timeoutMs === undefined || timeoutMs <= 0 ? undefined : AbortSignal.timeout(Math.ceil(timeoutMs));
    const signals = [caller, this.#timeout].filter((one) => one !== undefined);
    this.signal = signals.length === 0 ? null : AbortSignal.any(signals);
  }

  /** @throws ConnectError for any failure */
  async hold<T>(call: () => Promise<T>): Promise<T> {
    try {
      this.#caller?.throwIfAborted();
      return await call();
    } catch (error) {
      throw this.explain(error);
    }
  }

  explain(error: unknown): ConnectError {
    if (error instanceof ConnectError) return error;
    if (this.#caller?.aborted)
      return new ConnectError("the call was aborted", Code.Canceled, undefined, undefined, error);
    if (this.#timeout?.aborted) {
      return new ConnectError("the call timed out", Code.DeadlineExceeded, undefined, undefined, error);
    }
    return ConnectError.from(error, Code.Unavailable);
  }
}

/** @throws ConnectError if the response is not from the service */
function checkType({ headers }: Response, expected: string): void {
  const type = headers.get("content-type");
  if (type === expected) return;
  const isProtocol = type?.startsWith(expected.slice(0, expected.length - "proto".length)) ?? false;
  throw new ConnectError(
    `the response has content type ${type}, not ${expected}`,
    isProtocol ? Code.Internal : Code.Unknown,
  );
}

/** Unary responses carry trailers among their headers. */
function demux(mixed: Headers): [Headers, Headers] {
  const [headers, trailer] = [new Headers(), new Headers()];
  mixed.forEach((value, name) => {
    if (name.startsWith("trailer-")) trailer.append(name.slice("trailer-".length), value);
    else headers.append(name, value);
  });
  return [headers, trailer];
}

/** What later versions add is left out. @throws ConnectError */
function decode<O extends DescMessage>(schema: O, bytes: Uint8Array): MessageShape<O> {
  try {
    checkMessageCount(schema, bytes);
    return fromBinary(schema, bytes, { readUnknownFields: false });
  } catch (error) {
    throw ConnectError.from(error, Code.Internal);
  }
}

function post(
  baseUrl: string,
  method: Method,
  contentType: string,
  signal: AbortSignal | null,
  timeoutMs: number | undefined,
  header: HeadersInit | undefined,
  body: Uint8Array,
): Promise<Response> {
  const headers = new Headers(header);
  headers.set("content-type", contentType);
  headers.set("connect-protocol-version", "1");
  if (timeoutMs !== undefined && timeoutMs > 0) headers.set("connect-timeout-ms", Math.ceil(timeoutMs).toString());
  const url = `${baseUrl}/${method.parent.typeName}/${method.name}`;
  return fetch(url, { method: "POST", headers, body: body as Uint8Array<ArrayBuffer>, redirect: "error", signal });
}

function envelope(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(ENVELOPE_HEAD + message.length);
  new DataView(out.buffer).setUint32(1, message.length);
  out.set(message, ENVELOPE_HEAD);
  return out;
}

async function* readStream<O extends DescMessage>(
  response: Response,
  schema: O,
  trailer: Headers,
  limits: Limits,
): AsyncGenerator<MessageShape<O>> {
  const reader = new BodyReader(response);
  try {
    for (;;) {
      const head = await reader.take(ENVELOPE_HEAD);
      const flags = head[0]!;
      const message = await reader.take(new DataView(head.buffer, head.byteOffset).getUint32(1));
      if ((flags & COMPRESSED) !== 0) throw new ConnectError("the response is compressed", Code.Internal);
      if ((flags & END_OF_STREAM) !== 0) {
        const { error, metadata } = JSON.parse(new TextDecoder().decode(message)) as EndOfStream;
        for (const [name, values] of Object.entries(metadata ?? {})) {
          for (const value of values) trailer.append(name, value);
        }
        if (error) throw toConnectError(error, Code.Unknown, trailer);
        return;
      }
      yield decode(schema, message);
    }
  } catch (error) {
    throw limits.explain(error);
  } finally {
    await reader.close();
  }
}

/** The error of a failed response, whether from the service or a proxy. */
async function refusal(response: Response): Promise<ConnectError> {
  const fallback = codeOfStatus(response.status);
  const text = new TextDecoder().decode(await new BodyReader(response, MOST_REFUSAL_BYTES).rest());
  const metadata = new Headers(demux(response.headers).flatMap((headers) => [...headers]));
  const status = `HTTP ${response.status}`;
  try {
    const body = JSON.parse(text) as ErrorBody & Partial<Envelope>;
    // What is not of this protocol, such as a path that the service does not have, is refused in REST's form.
    const said = body.error?.message;
    return toConnectError(body, fallback, metadata, typeof said === "string" ? `${status}: ${said}` : status);
  } catch {
    return new ConnectError(status, fallback, metadata);
  }
}

/** A refusal in REST's form. */
interface Envelope {
  readonly error: { readonly message?: unknown } | null;
}

/** @param otherwise the message if the body has none */
function toConnectError(body: ErrorBody, fallback: Code, metadata: Headers, otherwise = ""): ConnectError {
  const code = CODES.get(String(body.code)) ?? fallback;
  const error = new ConnectError(typeof body.message === "string" ? body.message : otherwise, code, metadata);
  for (const { type, value } of body.details ?? []) {
    if (typeof type === "string" && typeof value === "string") error.details.push({ type, value: base64Decode(value) });
  }
  return error;
}

/** Codes by their names in the protocol, such as invalid_argument. */
const CODES: ReadonlyMap<string, Code> = new Map(
  Object.entries(Code)
    .filter((entry): entry is [string, Code] => typeof entry[1] === "number")
    .map(([name, code]) => [name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase(), code]),
);

/** @see https://connectrpc.com/docs/protocol#http-to-error-code */
function codeOfStatus(status: number): Code {
  switch (status) {
    case 400:
      return Code.Internal;
    case 401:
      return Code.Unauthenticated;
    case 403:
      return Code.PermissionDenied;
    case 404:
      return Code.Unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code.Unavailable;
    default:
      return Code.Unknown;
  }
}
