import type { IncomingHttpHeaders as FieldsOfHttp1, IncomingMessage, ServerResponse } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { inStep, type Work } from "../../../primitives/turns/pass.ts";
import type { TakenAnswer } from "./answer-bytes.ts";

/** What an HTTP/2 stream opens with. */
export interface OpenedStream {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** The client's address; empty if it is gone. */
  readonly peer: string;
}

/** What everyday calls read of Node's request, of an HTTP/2 stream: the stream's own events, without a second stream on top. */
export class StreamRequest
  implements Pick<IncomingMessage, "httpVersion" | "httpVersionMajor" | "method" | "rawHeaders" | "url">
{
  readonly httpVersion = "2.0";
  readonly httpVersionMajor = 2;
  readonly method: string;
  readonly url: string;
  readonly headers: FieldsOfHttp1;
  readonly rawHeaders: string[];
  readonly stream: ServerHttp2Stream;

  constructor({ stream, headers, rawHeaders }: OpenedStream) {
    this.method = headers[":method"] ?? "";
    this.url = headers[":path"] ?? "";
    this.headers = headers;
    this.rawHeaders = rawHeaders as string[];
    this.stream = stream;
  }

  on(event: "data" | "end" | "error" | "aborted", listener: (chunk: Buffer) => void): this {
    // A stream that breaks while its response is owed is aborted first, and who opened it listens for errors.
    if (event !== "error") this.stream.on(event, listener);
    return this;
  }

  resume(): this {
    this.stream.resume();
    return this;
  }

  /** Typed as everyday calls expect it: they use nothing else. */
  asIncoming(): IncomingMessage {
    return this as unknown as IncomingMessage;
  }
}

/** What everyday calls use of Node's response, of an HTTP/2 stream: headers and body are handed over together when it ends. */
export class StreamResponse implements Pick<ServerResponse, "destroyed" | "headersSent">, Work<"write"> {
  readonly req: StreamRequest;
  readonly stream: ServerHttp2Stream;
  /** Names and values in turn, as Node sends them without making an object of them. */
  #headers: string[] = [];
  #trailers: OutgoingHttpHeaders | undefined;
  #taken: TakenAnswer | undefined;

  constructor(req: StreamRequest) {
    this.req = req;
    this.stream = req.stream;
  }

  get headersSent(): boolean {
    return this.stream.headersSent;
  }

  get destroyed(): boolean {
    return this.stream.destroyed;
  }

  /** Typed as everyday calls expect it: they use nothing else. */
  asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  setHeader(name: string, value: number | string): this {
    const headers = this.#headers;
    const set = name.toLowerCase();
    for (let i = 0; i < headers.length; i += 2) {
      if (headers[i] !== set) continue;
      headers[i + 1] = String(value);
      return this;
    }
    headers.push(set, String(value));
    return this;
  }

  /** @param headers they replace those of the same name set before */
  writeHead(status: number, headers: Readonly<Record<string, number | string>>): this {
    this.setHeader(":status", status);
    for (const name in headers) this.setHeader(name, headers[name]!);
    return this;
  }

  /**
   * Writes a whole response with trailers, as `writeHead`, `addTrailers` and `end` do if no header is set.
   *
   * @param headers names and values in turn, `:status` first; no name twice
   */
  answer(headers: string[], trailers: OutgoingHttpHeaders, body: TakenAnswer): void {
    this.#headers = headers;
    this.#trailers = trailers;
    this.#taken = body;
    inStep("write", this);
  }

  /** Writes the response that `answer` was given. */
  write(): void {
    const body = this.#taken!;
    if (!this.#begin()) return;
    // Called once the connection has written it, or without ever reading it again: then its memory is left to the collector.
    this.stream.end(body.bytes, (error?: Error | null) => {
      if (error == null) body.release();
    });
  }

  /** The stream's response that `asResponse` has returned, if no header is set on it; undefined of any other response. */
  static unset(response: ServerResponse): StreamResponse | undefined {
    const stream: unknown = response;
    return stream instanceof StreamResponse && stream.#headers.length === 0 ? stream : undefined;
  }

  addTrailers(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers;
  }

  /** Writes the response; nothing if the client is gone. @param encoding "latin1": the text's characters are its bytes */
  end(body?: string | Uint8Array, encoding?: "latin1"): this {
    inStep("write", { write: () => this.#write(body, encoding) });
    return this;
  }

  #write(body: string | Uint8Array | undefined, encoding: "latin1" | undefined): void {
    const { stream } = this;
    if (!this.#begin()) return;
    if (body === undefined) stream.end();
    else if (encoding === undefined) stream.end(body);
    else stream.end(body, encoding);
  }

  /** Writes the headers. @returns false if the client is gone */
  #begin(): boolean {
    const { stream } = this;
    if (stream.destroyed || stream.closed || stream.headersSent) return false;
    const trailers = this.#trailers;
    if (trailers === undefined) stream.respond(this.#headers);
    else {
      stream.respond(this.#headers, WITH_TRAILERS);
      stream.on("wantTrailers", senderOf(trailers));
    }
    return true;
  }

  /** Breaks the stream off. */
  destroy(): this {
    this.stream.destroy();
    return this;
  }
}

const WITH_TRAILERS = Object.freeze({ waitForTrailers: true });

type SendTrailers = (this: ServerHttp2Stream) => void;

let lastTrailers: OutgoingHttpHeaders | undefined;
let lastSender: SendTrailers;

/** What sends the trailers of a stream that asks for them. Most responses have the same ones, and share it. */
function senderOf(trailers: OutgoingHttpHeaders): SendTrailers {
  if (trailers !== lastTrailers) [lastTrailers, lastSender] = [trailers, makeSender(trailers)];
  return lastSender;
}

function makeSender(trailers: OutgoingHttpHeaders): SendTrailers {
  return function () {
    this.sendTrailers(trailers);
  };
}
