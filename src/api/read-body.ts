import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { TradewireError } from "../errors/tradewire-error.ts";

/**
 * The whole body of a request.
 * @throws TradewireError BODY_TOO_LARGE, VALIDATION_ERROR when it does not arrive in time or is cut off
 */
export function readBody(request: IncomingMessage, limitBytes: number, timeoutMs: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) {
    if (request.httpVersionMajor === 1) endRefusedRequest(request);
    return Promise.reject(bodyTooLarge(limitBytes));
  }
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let length = 0;
    // HTTP/1.1 bodies are timed by the server itself.
    const timer =
      request.httpVersionMajor === 2
        ? setTimeout(
            () => fail(new TradewireError("VALIDATION_ERROR", "The request body did not arrive in time.")),
            timeoutMs,
          )
        : undefined;
    const fail = (error: TradewireError): void => {
      clearTimeout(timer);
      request.off("data", onData);
      if (request.httpVersionMajor === 2) {
        request.resume();
        endRefusedStream(request);
      } else endRefusedRequest(request);
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > limitBytes) fail(bodyTooLarge(limitBytes));
      else if (first === undefined) first = chunk;
      else if (rest === undefined) rest = [first, chunk];
      else rest.push(chunk);
    };
    request.on("data", onData);
    request.once("end", () => {
      clearTimeout(timer);
      resolve(rest === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest));
    });
    request.on("error", () => fail(new TradewireError("VALIDATION_ERROR", "The request body was cut off.")));
    request.once("aborted", () => fail(new TradewireError("VALIDATION_ERROR", "The request body was cut off.")));
  });
}

const REFUSED_MS = 500;
/** What is still taken, and thrown away, of a refused body: enough for one that is nearly complete. */
const REFUSED_BYTES = 16 * 1024;

/**
 * Lets the caller read the refusal before the connection goes: one that is closed on a caller who still writes takes the
 * answer along. A body that ends within reason leaves the connection as it is.
 */
function endRefusedRequest(request: IncomingMessage): void {
  const { socket } = request;
  let left = REFUSED_BYTES;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.pause();
  });
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS);
  const stop = () => clearTimeout(timer);
  request.once("end", stop);
  socket.once("close", stop);
}

/** What the caller has yet to send would keep the stream open long after the refusal, trailers included, was written. */
function endRefusedStream(request: IncomingMessage): void {
  const { stream } = request as unknown as Http2ServerRequest;
  const timer = setTimeout(() => stream.close(), REFUSED_MS);
  stream.once("close", () => clearTimeout(timer));
}

function bodyTooLarge(limitBytes: number): TradewireError {
  return new TradewireError("BODY_TOO_LARGE", `The request body is larger than ${limitBytes} bytes.`);
}
