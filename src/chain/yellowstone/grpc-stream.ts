import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import { TurnBudget } from "../../primitives/turns/turn-budget.ts";
import { FrameReader, PREFIX_BYTES } from "./frame-reader.ts";

interface GrpcStreamOptions {
  /** Scheme, host and port of the server. */
  readonly url: string;
  /** `/package.Service/Method` */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onMessage: (message: Uint8Array) => void;
  /** Called once, when the stream ends for any reason but a local close. */
  readonly onEnd: (reason: string) => void;
}

/** An open bidirectional call. */
export interface GrpcStream {
  send(message: Uint8Array): void;
  /** Sends a message unless earlier ones still wait: a server that reads none gets no answers. */
  answer(message: Uint8Array): void;
  /** The current message caused as much work as this many average messages: this turn receives that many fewer. */
  countWork(messages: number): void;
  close(): void;
}

/**
 * Flow-control window: with HTTP/2's default of 64 KiB a stream of accounts waits for round trips. It is also the amount that a paused
 * stream reads and buffers, and all of them may do so in one turn of the loop. Bytes.
 */
const WINDOW_BYTES = 256 * 1024;
const PING_MS = 10_000;
/**
 * Messages of all streams processed before other work gets a turn: a quarter of a millisecond of work, however many have arrived. While the
 * collector marks, it may take up to five milliseconds for each 64 KiB that a turn allocates.
 */
const MESSAGES_PER_TURN = 25;
const turn = new TurnBudget(MESSAGES_PER_TURN);

/**
 * Opens one bidirectional gRPC stream, uncompressed, on a connection of its own.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export function openGrpcStream(options: GrpcStreamOptions): GrpcStream {
  return new Http2GrpcStream(options);
}

class Http2GrpcStream implements GrpcStream {
  readonly #onEnd: (reason: string) => void;
  readonly #session: ClientHttp2Session;
  readonly #call: ClientHttp2Stream;
  readonly #frames: FrameReader;
  readonly #ping: NodeJS.Timeout;
  #isOver = false;
  /** Data that arrived after the turn was used up. */
  #held: Buffer | undefined;
  readonly #goOn = () => {
    const held = this.#held;
    this.#held = undefined;
    this.#call.resume();
    if (held !== undefined) this.#receive(held);
  };

  constructor({ url, path, headers, onMessage, onEnd }: GrpcStreamOptions) {
    this.#onEnd = onEnd;
    const read = (message: Uint8Array) => {
      turn.spend();
      onMessage(message);
    };
    this.#frames = new FrameReader(read, MESSAGES_PER_TURN);
    this.#session = connect(url, { settings: { initialWindowSize: WINDOW_BYTES, enablePush: false } });
    this.#ping = setInterval(() => this.#session.ping(() => {}), PING_MS);
    this.#session.on("connect", () => this.#session.setLocalWindowSize(WINDOW_BYTES));
    this.#session.on("error", (error) => this.#end(error.message));
    this.#session.on("close", () => this.#end("the connection was closed"));
    this.#call = this.#session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: path,
      "content-type": "application/grpc+proto",
      te: "trailers",
      ...headers,
    });
    this.#call.on("response", (answer) => {
      if (answer[":status"] !== 200) this.#end(`HTTP ${answer[":status"]}`);
      else if (answer["grpc-status"] !== undefined) this.#end(statusText(answer));
    });
    this.#call.on("trailers", (trailers) => this.#end(statusText(trailers)));
    this.#call.on("error", (error) => this.#end(error.message));
    this.#call.on("close", () => this.#end("the stream was closed"));
    this.#call.on("data", (chunk: Buffer) => this.#receive(chunk));
  }

  send(message: Uint8Array): void {
    if (this.#isOver) return;
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt32BE(message.length, 1);
    // Not joined: that would copy what may be a quarter of a megabyte.
    this.#call.cork();
    this.#call.write(prefix);
    this.#call.write(message);
    this.#call.uncork();
  }

  answer(message: Uint8Array): void {
    if (this.#call.writableLength === 0) this.send(message);
  }

  countWork(messages: number): void {
    turn.spend(messages);
  }

  close(): void {
    this.#isOver = true;
    clearInterval(this.#ping);
    turn.forget(this.#goOn);
    this.#session.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    if (turn.isSpent) {
      this.#held = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
      this.#call.pause();
      turn.whenRenewed(this.#goOn);
      return;
    }
    try {
      this.#held = this.#frames.read(chunk);
    } catch (error) {
      this.#end(String(error));
      return;
    }
    if (!turn.isSpent) return;
    this.#call.pause();
    turn.whenRenewed(this.#goOn);
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.close();
    this.#onEnd(reason);
  }
}

function statusText(headers: Readonly<Record<string, unknown>>): string {
  const message = headers["grpc-message"];
  const text = typeof message === "string" ? `: ${percentDecoded(message).slice(0, 200)}` : "";
  return `gRPC status ${headers["grpc-status"]}${text}`;
}

/** The raw text, if the server has not encoded it. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
