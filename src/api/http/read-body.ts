import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { TradewireError } from "../../errors/tradewire-error.ts";
import { inNextPass } from "../../primitives/turns/pass.ts";
import { MOST_DROPPING_MS, SILENT_DROPPING_MS, takeDrop } from "./closing/dropped-bodies.ts";
import { connectionOf } from "./flow/connection-of.ts";
import { pauseReading, resumeReading } from "./flow/hold-reading.ts";
import { creditBody } from "./flow/session-flow.ts";
import { LaneRequest } from "./lane/lane-exchange.ts";

/** Limits of a request body. */
interface BodyLimits {
  readonly bodyLimitBytes: number;
  /** Framing bytes on top of that, not mentioned in refusals. */
  readonly overheadBytes?: number;
  readonly requestTimeoutMs: number;
}

/** Receives the body of a request, or the reason why there is none, once. */
export interface BodyTaker {
  takeBody(body: Buffer | TradewireError): void;
}

/**
 * Reads the whole body of a request and passes it on. Passes an error instead: BODY_TOO_LARGE, REQUEST_TIMEOUT
 * if it does not arrive in time, or VALIDATION_ERROR if it is truncated.
 */
export function readBody(request: IncomingMessage | LaneRequest, limits: BodyLimits, taker: BodyTaker): void {
  const most = mostBytes(limits);
  if (request instanceof LaneRequest) {
    taker.takeBody(request.body.length > most ? bodyTooLarge(limits.bodyLimitBytes) : request.body);
    return;
  }
  const declared = declaredBytes(request);
  const isLong = declared > DRAINED_BYTES;
  if (declared > most && (request.httpVersionMajor === 1 || isLong)) {
    // Of a long one nothing is read before the answer, after which the connection closes.
    if (request.httpVersionMajor === 2) endRefusedStream(request);
    else if (isLong) pauseReading(request.socket);
    else endRefusedRequest(request);
    taker.takeBody(bodyTooLarge(limits.bodyLimitBytes));
    return;
  }
  new BodyReader(request, limits, taker).listen();
}

const mostBytes = ({ bodyLimitBytes, overheadBytes = 0 }: BodyLimits): number => bodyLimitBytes + overheadBytes;

/** Bodies without a timer yet. Most come in the turn in which they are asked for, and need none. */
let untimed: BodyReader[] = [];

function timeLater(reader: BodyReader): void {
  if (untimed.push(reader) === 1) setImmediate(timeAll);
}

function timeAll(): void {
  const readers = untimed;
  untimed = [];
  for (const reader of readers) reader.time();
}

/** Chunks of a body that are made one: each takes some 300 bytes beside its own, and keeps the read that it came with. */
const MERGED_AT = 64;

class BodyReader {
  readonly #request: IncomingMessage;
  readonly #limitBytes: number;
  readonly #mostBytes: number;
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout | undefined;
  #taker: BodyTaker | undefined;
  #first: Buffer | undefined;
  #chunks: Buffer[] | undefined;
  #length = 0;

  constructor(request: IncomingMessage, limits: BodyLimits, taker: BodyTaker) {
    this.#request = request;
    this.#limitBytes = limits.bodyLimitBytes;
    this.#mostBytes = mostBytes(limits);
    this.#taker = taker;
    this.#timeoutMs = limits.requestTimeoutMs;
    // HTTP/1.1 bodies are timed by the server itself.
    if (request.httpVersionMajor === 2) timeLater(this);
  }

  listen(): void {
    this.#request
      .on("data", (chunk: Buffer) => this.take(chunk))
      .on("end", () => this.finish())
      .on("error", () => this.fail(truncated()))
      .on("aborted", () => this.fail(truncated()));
  }

  /** Gives the body its time, unless it has come. */
  time(): void {
    if (this.#taker === undefined) return;
    this.#timer = setTimeout(() => this.fail(late()), this.#timeoutMs);
  }

  take(chunk: Buffer): void {
    if (this.#taker === undefined) return;
    this.#length += chunk.length;
    if (this.#length > this.#mostBytes) this.#drop();
    else if (this.#first === undefined) this.#first = chunk;
    else if (this.#chunks === undefined) this.#chunks = [this.#first, chunk];
    else if (this.#chunks.push(chunk) === MERGED_AT) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /**
   * Drops a body that is too large. On HTTP/2, one that declared its length is refused only after its end: clients stop
   * writing when a response starts, and a body shorter than declared makes them discard the rest of the response.
   */
  #drop(): void {
    this.#first = undefined;
    this.#chunks = undefined;
    const willEnd = this.#request.httpVersionMajor === 2 && declaredBytes(this.#request) >= this.#length;
    if (!willEnd) this.fail(bodyTooLarge(this.#limitBytes));
  }

  finish(): void {
    if (this.#length > this.#mostBytes) {
      this.#end(bodyTooLarge(this.#limitBytes));
      return;
    }
    const body = this.#chunks === undefined ? (this.#first ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    this.#end(body);
  }

  fail(reason: TradewireError): void {
    if (this.#taker === undefined) return;
    if (this.#request.httpVersionMajor === 2) endRefusedStream(this.#request);
    else endRefusedRequest(this.#request, drainedBytesOf(this.#request) - Math.max(0, this.#length - this.#limitBytes));
    this.#end(reason);
  }

  #end(body: Buffer | TradewireError): void {
    clearTimeout(this.#timer);
    const taker = this.#taker;
    this.#taker = undefined;
    if (taker !== undefined) inNextPass(connectionOf(this.#request), () => taker.takeBody(body));
  }
}

/**
 * Ends an unread body once the response is written. Otherwise an HTTP/2 client would wait for flow-control window forever,
 * and on HTTP/1.1 the next request would wait behind the body.
 */
export function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  const isHttp2 = request.httpVersionMajor === 2;
  const written = isHttp2 ? (request as unknown as Http2ServerRequest).stream : response;
  written.once("finish", () => {
    if (request.readableEnded) return;
    // A reader that stopped halfway may still listen, which would stop the flow.
    request.removeAllListeners("readable");
    if (isHttp2) endRefusedStream(request);
    else {
      endRefusedRequest(request, DRAINED_STREAM_BYTES);
      request.resume();
    }
  });
}

/** Time to end a refused body before its stream is closed. Milliseconds. */
const REFUSED_STREAM_MS = 500;
/**
 * The same for an HTTP/1.1 connection, whose end is a reset: a client that is still about to write when the reset arrives never reads
 * its response, and one that uploads on many connections may take a second to look at each. Milliseconds.
 */
const REFUSED_CONNECTION_MS = 2_500;
/** Bytes read and discarded of a refused body: enough for one that is nearly complete. */
const REFUSED_BYTES = 16 * 1024;
/** A refused body declared no longer than this is read to its end and discarded, so that the client keeps its connection. */
const DRAINED_BYTES = 256 * 1024;
/** The same for a stream of messages, which never declares its length. */
const DRAINED_STREAM_BYTES = 1024 * 1024;

/**
 * Lets the client read the refusal before the connection closes: a reset while it still writes would discard the response.
 * The connection survives if the body ends in time. What comes of the body is dropped; beyond the bound nothing more is read,
 * since every read takes up to 64 KiB until the collector runs.
 */
function endRefusedRequest(request: IncomingMessage, drainedBytes = drainedBytesOf(request)): void {
  const { socket } = request;
  let left = drainedBytes;
  let isHeld = false;
  const hold = () => {
    if (left >= 0 || isHeld) return;
    isHeld = true;
    pauseReading(socket);
  };
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    hold();
  });
  const timer = setTimeout(() => socket.destroy(), REFUSED_CONNECTION_MS);
  const stop = () => clearTimeout(timer);
  socket.once("close", stop);
  request.once("end", () => {
    stop();
    socket.off("close", stop);
    // Its end was in what had been read.
    if (isHeld) resumeReading(socket);
  });
  hold();
}

/** Bytes of a refused body to read and discard. */
function drainedBytesOf(request: IncomingMessage): number {
  const declared = declaredBytes(request);
  return declared <= DRAINED_BYTES ? Math.max(declared, REFUSED_BYTES) : REFUSED_BYTES;
}

/** Ends the body of an HTTP/2 request that is refused unread. */
export function endUntouchedBody(request: IncomingMessage): void {
  const { stream } = request as unknown as Http2ServerRequest;
  if (request.httpVersionMajor === 2 && request.readableFlowing === null && !stream.endAfterHeaders) {
    endRefusedStream(request);
  }
}

/**
 * Drops the rest of a refused body, and closes the stream if that does not end in time or is too long. Node would reset a stream that
 * nobody reads as soon as it is answered, and clients that still write, such as curl, then lose the answer; others, such as httpx and
 * Java's, wait on a reset stream for leave to write on, until their time is up.
 */
function endRefusedStream(request: IncomingMessage): void {
  const { stream } = request as unknown as Http2ServerRequest;
  const declared = request.headers["content-length"] === undefined ? undefined : declaredBytes(request);
  const isShort = declared !== undefined && declared <= DRAINED_BYTES;
  const longBytes = isShort ? 0 : takeDrop(declared, stream);
  let left = Math.max(longBytes, DRAINED_BYTES);
  const close = () => stream.close();
  const silent = setTimeout(close, longBytes > 0 ? SILENT_DROPPING_MS : REFUSED_STREAM_MS);
  const late = longBytes > 0 ? setTimeout(close, MOST_DROPPING_MS) : undefined;
  request.on("data", ({ length }: Buffer) => {
    left -= length;
    if (longBytes > 0) {
      silent.refresh();
      creditBody(stream, length);
    }
    if (left < 0 && !stream.closed) stream.close();
  });
  request.resume();
  stream.once("close", () => {
    clearTimeout(silent);
    clearTimeout(late);
  });
}

/** True if the body is refused for its length and too long to be read to its end: an HTTP/1.1 connection closes after the refusal. */
export const endsConnection = (request: IncomingMessage, mostBytes: number): boolean =>
  declaredBytes(request) > Math.max(mostBytes, DRAINED_BYTES);

/** The declared length of the body; 0 if there is none. */
export function declaredBytes({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

/** The refusal of a body above its limit. */
export function bodyTooLarge(limitBytes: number): TradewireError {
  return new TradewireError("BODY_TOO_LARGE", `The request body is larger than ${limitBytes} bytes.`);
}

const late = () => new TradewireError("REQUEST_TIMEOUT", "The request body did not arrive in time.");
const truncated = () => new TradewireError("VALIDATION_ERROR", "The request body is truncated.");
