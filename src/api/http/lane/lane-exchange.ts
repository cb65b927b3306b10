import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { inStep, type Work } from "../../../primitives/turns/pass.ts";
import type { AnswerBytes, TakenAnswer } from "./answer-bytes.ts";
import type { HeadTail } from "./head-tail.ts";
import { Piece } from "./piece.ts";
import type { WholeRequest } from "./whole-request.ts";

type HeaderValue = number | string | readonly string[];

const NO_HEADERS: string[] = [];
const CONTENT_LENGTH = /^content-length$/i;
/** Characters that no header may contain: they could end it. */
const UNPRINTABLE = /[^\t\x20-\x7e\x80-\xff]/;

const OK = `HTTP/1.1 200 ${STATUS_CODES[200]}`;
/** What stands before the value of each header, by name: made once, for every piece of a text is an object until it is written. */
const beginnings = new Map<string, string>();
/** More names than the service has; those of further ones are made each time. */
const MAX_BEGINNINGS = 64;

function beginningOf(name: string): string {
  const known = beginnings.get(name);
  if (known !== undefined) return known;
  const beginning = `\r\n${name}: `;
  if (beginnings.size < MAX_BEGINNINGS) beginnings.set(name, beginning);
  return beginning;
}

/**
 * How a head with the status 200 begins.
 *
 * @param typeAndLength the headers that say what the body is and how long, but for its length, each with the line break before it
 */
export const beginningOfHead = (typeAndLength: string): Piece => new Piece(OK + typeAndLength);

/** Headers as they stand in a head of HTTP/1.1. */
export interface HeadLines {
  /** Writes each behind a line break, in ASCII; no character in them may end a header. */
  writeLines(out: AnswerBytes): void;
}

/** The part of Node's request that everyday calls use, for a request read by a lane. */
export class LaneRequest
  implements
    Pick<IncomingMessage, "headers" | "httpVersion" | "httpVersionMajor" | "method" | "rawHeaders" | "socket" | "url">
{
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  /** Bytes of its head. */
  readonly headBytes: number;
  /** Its whole body. */
  readonly body: Buffer;

  constructor(socket: Socket, request: WholeRequest, headers: IncomingHttpHeaders, body: Buffer) {
    this.url = request.path;
    this.headers = headers;
    this.socket = socket;
    this.headBytes = request.headBytes;
    this.body = body;
  }

  get method(): string {
    return "POST";
  }

  get httpVersion(): string {
    return "1.1";
  }

  get httpVersionMajor(): number {
    return 1;
  }

  /** Not listed again: a lane takes no request with more headers than any may have. */
  get rawHeaders(): string[] {
    return NO_HEADERS;
  }

  /** Typed as everyday calls expect it: they use nothing else. */
  asIncoming(): IncomingMessage {
    return this as unknown as IncomingMessage;
  }
}

/** What everyday calls use of Node's response: written at once when it ends, in the form in which Node writes it. */
export class LaneResponse implements Pick<ServerResponse, "destroyed" | "headersSent" | "socket">, Work<"write"> {
  readonly req: LaneRequest;
  readonly socket: Socket;
  headersSent = false;
  /** True once it is written as the last answer of its connection. */
  closes = false;
  /** True once it is written, or its client is gone. */
  isEnded = false;
  /** Called when it ends, if it is not ended by then. */
  onEnd: (() => void) | undefined;
  readonly #tail: HeadTail;
  readonly #isLast: () => boolean;
  #status = 200;
  /** Names and values in turn. */
  #headers: string[] | undefined;
  #taken: TakenAnswer | undefined;

  /**
   * @param tail what its head ends with
   * @param isLast asked when it is written: true if its connection closes after it
   */
  constructor(req: LaneRequest, tail: HeadTail, isLast: () => boolean) {
    this.req = req;
    this.socket = req.socket;
    this.onEnd = undefined;
    this.#tail = tail;
    this.#isLast = isLast;
    this.#headers = undefined;
    this.#taken = undefined;
  }

  /** Its status, once it has ended. */
  get status(): number {
    return this.#status;
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  /** Typed as everyday calls expect it: they use nothing else. */
  asResponse(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  /** The lane's response that `asResponse` has returned, if no header is set on it; undefined of any other response. */
  static unset(response: ServerResponse): LaneResponse | undefined {
    const lane: unknown = response;
    return lane instanceof LaneResponse && lane.#headers === undefined ? lane : undefined;
  }

  setHeader(name: string, value: HeaderValue): this {
    this.#remove(name);
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [String(value)]) this.#add(name, one);
    return this;
  }

  /** @param headers names and values in turn, or an object; they replace those of the same name set before */
  writeHead(status: number, headers: readonly string[] | Readonly<Record<string, HeaderValue>>): this {
    this.#status = status;
    if (!Array.isArray(headers)) {
      for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
      return this;
    }
    if (this.#headers !== undefined) for (let i = 0; i < headers.length; i += 2) this.#remove(headers[i]!);
    for (let i = 0; i < headers.length; i += 2) this.#add(headers[i]!, headers[i + 1]!);
    return this;
  }

  /** Writes the response. @param encoding "latin1": the text's characters are its bytes */
  end(body: string | Uint8Array = "", encoding?: "latin1"): this {
    if (this.headersSent) return this;
    this.headersSent = true;
    const bytes = typeof body === "string" && encoding !== "latin1" ? Buffer.from(body) : body;
    if (this.socket.writable) this.#write(bytes);
    this.#end();
    return this;
  }

  /**
   * Writes a whole response with the status 200, without a list of its headers: what `writeHead` and `end` write if no header is set.
   *
   * @param beginning what its head begins with, up to the length
   * @param lines further headers
   */
  answer(beginning: Piece, lines: HeadLines, body: AnswerBytes): void {
    if (this.headersSent) return;
    this.headersSent = true;
    if (this.socket.writable) {
      const { length } = body;
      const front = body.beginFront();
      body.piece(beginning);
      body.number(length);
      lines.writeLines(body);
      this.closes = this.#isLast();
      if (this.closes) body.latin1(this.#tail.lastText);
      else body.piece(this.#tail.piece);
      this.#taken = body.endFront(front).take();
      inStep("write", this);
    }
    this.#end();
  }

  /**
   * Writes what `answer` was given. If nothing waits in the socket after it, the system has copied it, and its memory serves the
   * next ones.
   */
  write(): void {
    this.socket.write(this.#taken!.bytes);
    if (this.socket.writableLength === 0) this.#taken!.release();
  }

  /** Breaks the connection off. */
  destroy(): this {
    this.socket.destroy();
    this.#end();
    return this;
  }

  #end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.onEnd?.();
  }

  #write(body: string | Uint8Array): void {
    const headers = this.#headers ?? NO_HEADERS;
    let head = this.#status === 200 ? OK : `HTTP/1.1 ${this.#status} ${STATUS_CODES[this.#status]}`;
    let hasLength = false;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i]!;
      hasLength ||= name.length === 14 && CONTENT_LENGTH.test(name);
      head += beginningOf(name);
      head += headers[i + 1]!;
    }
    if (!hasLength) head += `\r\nContent-Length: ${body.length}`;
    this.#send(head, body);
  }

  /** @param lines the head but for the headers of the connection */
  #send(lines: string, body: string | Uint8Array): void {
    const head = lines + this.#endOfHead();
    if (typeof body === "string") {
      const text = head + body;
      inStep("write", { write: () => this.socket.write(text, "latin1") });
    } else {
      // One write of both: a list of two allocates more than the copy costs.
      const whole = Buffer.allocUnsafe(head.length + body.length);
      whole.write(head, "latin1");
      whole.set(body, head.length);
      inStep("write", { write: () => this.socket.write(whole) });
    }
  }

  #endOfHead(): string {
    this.closes = this.#isLast();
    return this.closes ? this.#tail.lastText : this.#tail.text;
  }

  #add(name: string, value: string): void {
    if (UNPRINTABLE.test(value)) throw new TypeError(`the header ${name} has a value that cannot be sent`);
    this.#headers ??= [];
    this.#headers.push(name, value);
  }

  #remove(name: string): void {
    const removed = name.toLowerCase();
    const headers = this.#headers;
    if (headers === undefined) return;
    for (let i = headers.length - 2; i >= 0; i -= 2) if (headers[i]!.toLowerCase() === removed) headers.splice(i, 2);
  }
}
