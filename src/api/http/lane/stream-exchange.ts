import type { IncomingHttpHeaders as FieldsOfHttp1, IncomingMessage, ServerResponse } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";

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
    this.stream.on(event, listener);
    return this;
  }

  resume(): this {
    this.stream.resume();
    return this;
  }

  /** As everyday calls take it: they use nothing but what is here. */
  asIncoming(): IncomingMessage {
    return this as unknown as IncomingMessage;
  }
}

/** What everyday calls use of Node's response, of an HTTP/2 stream: headers and body are handed over together when it ends. */
export class StreamResponse implements Pick<ServerResponse, "destroyed" | "headersSent"> {
  readonly req: StreamRequest;
  readonly stream: ServerHttp2Stream;
  readonly #headers: OutgoingHttpHeaders = {};
  #trailers: OutgoingHttpHeaders | undefined;

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

  /** As everyday calls take it: they use nothing but what is here. */
  asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  setHeader(name: string, value: number | string): this {
    this.#headers[name.toLowerCase()] = value;
    return this;
  }

  /** @param headers they replace those of the same name set before */
  writeHead(status: number, headers: Readonly<Record<string, number | string>>): this {
    this.#headers[":status"] = status;
    for (const name in headers) this.setHeader(name, headers[name]!);
    return this;
  }

  addTrailers(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers;
  }

  /** Writes the response; nothing if the client is gone. @param encoding "latin1": the text's characters are its bytes */
  end(body?: string | Uint8Array, encoding?: "latin1"): this {
    const { stream } = this;
    if (stream.destroyed || stream.closed || stream.headersSent) return this;
    const trailers = this.#trailers;
    if (trailers === undefined) stream.respond(this.#headers);
    else {
      stream.respond(this.#headers, WITH_TRAILERS);
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    }
    if (body === undefined) stream.end();
    else if (encoding === undefined) stream.end(body);
    else stream.end(body, encoding);
    return this;
  }

  /** Breaks the stream off. */
  destroy(): this {
    this.stream.destroy();
    return this;
  }
}

const WITH_TRAILERS = Object.freeze({ waitForTrailers: true });
