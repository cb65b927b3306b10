import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { TradewireError } from "../../errors/tradewire-error.ts";

/** Bounds of a request's body. */
interface BodyLimits {
  readonly bodyLimitBytes: number;
  readonly requestTimeoutMs: number;
}

/**
 * Reads the whole body of a request and hands it over once: as bytes, or as the reason why not, BODY_TOO_LARGE,
 * REQUEST_TIMEOUT when it does not arrive in time, or VALIDATION_ERROR when it is cut off.
 */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  done: (body: Buffer | TradewireError) => void,
): void {
  const declared = declaredBytes(request);
  if (declared > limits.bodyLimitBytes && (request.httpVersionMajor === 1 || declared > TAKEN_BYTES)) {
    if (request.httpVersionMajor === 1) endRefusedRequest(request);
    done(bodyTooLarge(limits.bodyLimitBytes));
    return;
  }
  const reader = new BodyReader(request, limits, done);
  request
    .on("data", (chunk: Buffer) => reader.take(chunk))
    .on("end", () => reader.finish())
    .on("error", () => reader.fail(cutOff()))
    .on("aborted", () => reader.fail(cutOff()));
}

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #limitBytes: number;
  readonly #timer: NodeJS.Timeout | undefined;
  #done: ((body: Buffer | TradewireError) => void) | undefined;
  #first: Buffer | undefined;
  #chunks: Buffer[] | undefined;
  #length = 0;

  constructor(request: IncomingMessage, limits: BodyLimits, done: (body: Buffer | TradewireError) => void) {
    this.#request = request;
    this.#limitBytes = limits.bodyLimitBytes;
    this.#done = done;
    // HTTP/1.1 bodies are timed by the server itself.
    if (request.httpVersionMajor === 2) this.#timer = setTimeout(() => this.fail(late()), limits.requestTimeoutMs);
  }

  take(chunk: Buffer): void {
    if (this.#done === undefined) return;
    this.#length += chunk.length;
    if (this.#length > this.#limitBytes) this.#drop();
    else if (this.#first === undefined) this.#first = chunk;
    else if (this.#chunks === undefined) this.#chunks = [this.#first, chunk];
    else this.#chunks.push(chunk);
  }

  /**
   * On HTTP/2 a body that said so, and is not far too long, is refused when it has ended: callers who see an answer begin
   * stop writing, and a body shorter than it was said to be takes the rest of the answer along.
   */
  #drop(): void {
    this.#first = undefined;
    this.#chunks = undefined;
    const willEnd = this.#request.httpVersionMajor === 2 && declaredBytes(this.#request) >= this.#length;
    if (!willEnd) this.fail(bodyTooLarge(this.#limitBytes));
  }

  finish(): void {
    if (this.#length > this.#limitBytes) {
      this.#end(bodyTooLarge(this.#limitBytes));
      return;
    }
    const body = this.#chunks === undefined ? (this.#first ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    this.#end(body);
  }

  fail(reason: TradewireError): void {
    if (this.#done === undefined) return;
    if (this.#request.httpVersionMajor === 2) {
      this.#request.resume();
      endRefusedStream(this.#request);
    } else endRefusedRequest(this.#request);
    this.#end(reason);
  }

  #end(body: Buffer | TradewireError): void {
    clearTimeout(this.#timer);
    const done = this.#done;
    this.#done = undefined;
    done?.(body);
  }
}

/**
 * Ends a body that the answer did not wait for, once the answer is written: a caller of HTTP/2 would wait for room that
 * nobody makes, and on HTTP/1.1 the next request of the connection would wait behind it.
 */
export function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const isHttp2 = request.httpVersionMajor === 2;
  const written = isHttp2 ? (request as unknown as Http2ServerRequest).stream : response;
  written.once("finish", () => {
    if (request.readableEnded) return;
    if (isHttp2) endRefusedStream(request);
    else endRefusedRequest(request, TAKEN_OF_STREAM_BYTES);
    // A reader that stopped halfway may still listen, and nothing flows past it.
    request.removeAllListeners("readable").resume();
  });
}

const REFUSED_MS = 500;
/** What is still taken, and thrown away, of a refused body: enough for one that is nearly complete. */
const REFUSED_BYTES = 16 * 1024;
/** A body that says it is no longer than this is taken, and thrown away, to its end: its caller then keeps the connection. */
const TAKEN_BYTES = 256 * 1024;
/** The same of a stream of messages, which never says how long it is. */
const TAKEN_OF_STREAM_BYTES = 1024 * 1024;

/**
 * Lets the caller read the refusal before the connection goes: one that is closed on a caller who still writes takes the
 * answer along. A body that ends within reason leaves the connection as it is.
 */
function endRefusedRequest(
  request: IncomingMessage,
  takenBytes = declaredBytes(request) <= TAKEN_BYTES ? Math.max(declaredBytes(request), REFUSED_BYTES) : REFUSED_BYTES,
): void {
  const { socket } = request;
  let left = takenBytes;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  const stop = () => clearTimeout(timer);
  request.once("end", stop);
  socket.once("close", stop);
}

/** What an HTTP/2 caller has yet to send would keep the stream open long after the refusal, trailers included, was written. */
function endRefusedStream(request: IncomingMessage): void {
  const { stream } = request as unknown as Http2ServerRequest;
  const timer = setTimeout(() => stream.close(), REFUSED_MS);
  stream.once("close", () => clearTimeout(timer));
}

/** 0 where a body does not say how long it is. */
function declaredBytes({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

function bodyTooLarge(limitBytes: number): TradewireError {
  return new TradewireError("BODY_TOO_LARGE", `The request body is larger than ${limitBytes} bytes.`);
}

const late = () => new TradewireError("REQUEST_TIMEOUT", "The request body did not arrive in time.");
const cutOff = () => new TradewireError("VALIDATION_ERROR", "The request body was cut off.");
