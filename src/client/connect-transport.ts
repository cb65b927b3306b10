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

type Method = DescMethodUnary | DescMethodStreaming;

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: readonly { readonly type?: unknown; readonly value?: unknown }[];
}

/** In an enveloped message: it is the last of its stream, and JSON. */
const END_OF_STREAM = 2;
const ENVELOPE_HEAD = 5;

/**
 * The Connect protocol over `fetch`, in binary: unary calls and streams from the service, which is what this service has.
 * A full transport also speaks JSON, and weighs ten kilobytes more; any may be passed to `connect` in place of this one.
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
      return settled(signal, timeoutMs, async (whole) => {
        const body = toBinary(method.input, asMessage(method.input, input));
        const response = await post(baseUrl, method, "application/proto", whole, timeoutMs, header, body);
        if (response.status !== 200) throw await refusal(response);
        const message = fromBinary(method.output, new Uint8Array(await response.arrayBuffer()));
        const { headers } = response;
        return { stream: false, service: method.parent, method, header: headers, trailer: new Headers(), message };
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
        throw new ConnectError("only the service streams here", Code.Unimplemented);
      }
      const response = await settled(signal, timeoutMs, async (whole) => {
        let body: Uint8Array<ArrayBuffer> = envelope(new Uint8Array());
        for await (const message of input) body = envelope(toBinary(method.input, asMessage(method.input, message)));
        return post(baseUrl, method, "application/connect+proto", whole, timeoutMs, header, body);
      });
      if (response.status !== 200 || response.body === null) throw await refusal(response);
      const message = readStream(response.body, method.output, signal);
      const { headers } = response;
      return { stream: true, service: method.parent, method, header: headers, trailer: new Headers(), message };
    },
  };
}

function asMessage<D extends DescMessage>(schema: D, input: MessageInitShape<D>): MessageShape<D> {
  return create(schema, input);
}

/** Runs a call under the caller's signal and its own time limit, and says which of the two ended it. */
async function settled<T>(
  signal: AbortSignal | undefined,
  timeoutMs: number | undefined,
  call: (whole: AbortSignal | null) => Promise<T>,
): Promise<T> {
  const timeout = timeoutMs === undefined || timeoutMs <= 0 ? undefined : AbortSignal.timeout(timeoutMs);
  const signals = [signal, timeout].filter((one) => one !== undefined);
  try {
    signal?.throwIfAborted();
    return await call(signals.length === 0 ? null : AbortSignal.any(signals));
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    if (signal?.aborted) throw new ConnectError("the call was given up", Code.Canceled, undefined, undefined, error);
    if (timeout?.aborted)
      throw new ConnectError("no answer in time", Code.DeadlineExceeded, undefined, undefined, error);
    throw ConnectError.from(error, Code.Unavailable);
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
  body: ReadableStream<Uint8Array>,
  schema: O,
  signal: AbortSignal | undefined,
): AsyncGenerator<MessageShape<O>> {
  const reader = body.getReader();
  let buffered: Uint8Array = new Uint8Array();
  const take = async (length: number): Promise<Uint8Array> => {
    while (buffered.length < length) {
      const { done, value } = await reader.read();
      if (done) throw new ConnectError("the stream broke off", Code.Unavailable);
      const joined = new Uint8Array(buffered.length + value.length);
      joined.set(buffered);
      joined.set(value, buffered.length);
      buffered = joined;
    }
    const part = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return part;
  };
  try {
    for (;;) {
      const head = await take(ENVELOPE_HEAD);
      const flags = head[0]!;
      const message = await take(new DataView(head.buffer, head.byteOffset).getUint32(1));
      if ((flags & END_OF_STREAM) !== 0) {
        const { error } = JSON.parse(new TextDecoder().decode(message)) as { readonly error?: ErrorBody };
        if (error !== undefined) throw toConnectError(error, Code.Unknown);
        return;
      }
      yield fromBinary(schema, message);
    }
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    throw ConnectError.from(error, signal?.aborted ? Code.Canceled : Code.Unavailable);
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Why the service, or something on the way to it, refused. */
async function refusal(response: Response): Promise<ConnectError> {
  const fallback = codeOfStatus(response.status);
  const text = await response.text();
  try {
    return toConnectError(JSON.parse(text) as ErrorBody, fallback);
  } catch {
    return new ConnectError(`HTTP ${response.status}`, fallback);
  }
}

function toConnectError(body: ErrorBody, fallback: Code): ConnectError {
  const code = CODES.get(String(body.code)) ?? fallback;
  const error = new ConnectError(typeof body.message === "string" ? body.message : "", code);
  for (const { type, value } of body.details ?? []) {
    if (typeof type === "string" && typeof value === "string") error.details.push({ type, value: base64Decode(value) });
  }
  return error;
}

/** Codes by the names of the protocol: InvalidArgument is invalid_argument there. */
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
