import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { inNextPass, inStep } from "../../../primitives/turns/pass.ts";
import type { ApiSettings } from "../../settings.ts";
import { isEndLate, reportEnd } from "../closing/client-end.ts";
import { isAnswered } from "../flow/pipeline.ts";
import { countRequest, requestsOn } from "../flow/request-count.ts";
import type { HeadTail } from "./head-tail.ts";
import { LaneRequest, LaneResponse } from "./lane-exchange.ts";
import { lastRead, shareReads } from "./shared-read.ts";
import { readWholeRequest, type WholeRequest } from "./whole-request.ts";

/** Longest request read here: a head and a body as small as those of trades. */
const MAX_BYTES = 8 * 1024;

const TOO_MANY = 429;
/** How many answers a 429 is remembered for: a client beyond its limit is served now and then. */
const REMEMBERED = 16;

/** The response to a refused request. Headers and body are ASCII. */
export interface Refusal {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/**
 * Refuses a request of a watched connection; undefined, with nothing counted, if it is not to be refused.
 *
 * @param remoteAddress undefined once the connection is gone
 * @param wasLimited true if one of its latest requests was answered with 429: only then is it worth a look whether this one is
 */
type RefuseAgain = (
  request: WholeRequest,
  remoteAddress: string | undefined,
  wasLimited: boolean,
) => Refusal | undefined;

/** Serves a request to the end of its response; false, with nothing done, if the server has to. */
type ServeWhole = (request: LaneRequest, response: LaneResponse) => boolean;

/** What the connections of a lane share. */
export interface LaneParts {
  readonly settings: Pick<ApiSettings, "maxRequestsPerConnection">;
  /** True if every response closes its connection. */
  readonly isClosing: () => boolean;
  readonly refuse: RefuseAgain;
  /** Absent: requests are only refused here. */
  readonly serve?: ServeWhole | undefined;
  readonly tail: HeadTail;
  /** Connections that are read here. */
  readonly read: Set<LaneConnection>;
  /** Ends the watch of a connection. */
  readonly forget: (socket: Socket) => void;
}

/** A connection that is watched. What a call of it needs beside the call's own is made once. */
export class LaneConnection {
  readonly socket: Socket;
  readonly #parts: LaneParts;
  /** Those of the server. */
  #listeners: ((chunk: Buffer) => void)[] = [];
  /** Whether its server is known to be between two requests once it has read everything received. */
  #isInStep = false;
  /** The last request that its server handed over. */
  #seen: IncomingMessage | undefined;
  /** The last request read here. */
  #last: WholeRequest | undefined;
  /** True while a request taken here waits for its answer. */
  #isWaiting = false;
  /** The body of that request, until it enters. */
  #entering: Buffer | undefined;
  /** The response that is to come. */
  #response: LaneResponse | undefined;
  /** Bytes received meanwhile: at most one read, because the connection is then paused. */
  #held: Buffer[] = [];
  #isPaused = false;
  /** The connection's time-out, while it is held without. */
  #idleMs: number | undefined;
  /** Answers to come before an answer with 429 is forgotten. */
  #limited = 0;

  constructor(socket: Socket, parts: LaneParts) {
    this.socket = socket;
    this.#parts = parts;
  }

  /** True while a call of it is in flight. */
  get isServing(): boolean {
    return this.#isWaiting && !this.socket.destroyed;
  }

  /** Notes a request that the server has just handed over. */
  see(request: IncomingMessage): void {
    if (!this.#isInStep) this.#seen = request;
  }

  /** From now on reads in place of the server's listeners. */
  listen(): void {
    const socket = this.socket;
    this.#listeners = socket.listeners("data") as ((chunk: Buffer) => void)[];
    // Once we add a listener, Node feeds its parser through these listeners.
    socket.on("data", this.#take).on("close", this.#closed);
    for (const listener of this.#listeners) socket.off("data", listener);
    // If the server serves whatever is not refused, it gets the bytes unchanged.
    if (this.#parts.serve !== undefined) shareReads(socket, this.#takeRead);
    this.#parts.read.add(this);
  }

  /** Takes a read that is one whole request, if nothing of this connection waits. */
  readonly #takeRead = (size: number): boolean => {
    const socket = this.socket;
    if (!this.#isInStep || this.#isWaiting || socket.readableFlowing !== true || socket.readableLength > 0)
      return false;
    const request = readWholeRequest(lastRead, size, MAX_BYTES, this.#last);
    if (request === undefined) return false;
    this.#last = request;
    const body = Buffer.allocUnsafe(request.length);
    lastRead.copy(body, 0, request.headBytes, size);
    this.#enterPass(body);
    return true;
  };

  readonly #closed = (): void => void this.#parts.read.delete(this);

  readonly #take = (chunk: Buffer): void => {
    if (this.#isWaiting) {
      this.#held.push(chunk);
      this.#isPaused = true;
      this.socket.pause();
      return;
    }
    const request = readWholeRequest(chunk, chunk.length, MAX_BYTES, this.#last);
    this.#last = request ?? this.#last;
    if (!this.#isInStep) {
      this.#seen = undefined;
      this.#serve(chunk);
      this.#isInStep = request !== undefined && isSame(request, this.#seen);
      this.#seen = undefined;
    } else if (request === undefined) {
      this.#leave();
      this.#serve(chunk);
    } else this.#enterPass(chunk.subarray(request.headBytes));
  };

  /** Hands bytes to the server. */
  #serve(chunk: Buffer): void {
    for (const listener of this.#listeners) listener.call(this.socket, chunk);
  }

  #leave(): void {
    const socket = this.socket;
    this.#isInStep = false;
    socket.off("data", this.#take).off("close", this.#closed);
    for (const listener of this.#listeners) socket.on("data", listener);
    this.#parts.read.delete(this);
    this.#parts.forget(socket);
  }

  /** Answers the last request with the others of this turn. Until then the connection is held as it is: to the server it looks idle. */
  #enterPass(body: Buffer): void {
    this.#isWaiting = true;
    this.#entering = body;
    inNextPass(this.socket, this.#enter);
  }

  readonly #enter = (): void => {
    const body = this.#entering!;
    this.#entering = undefined;
    if (this.socket.destroyed) return;
    const answer = this.#answer(this.#last!, body);
    if (answer instanceof LaneResponse) {
      this.#await(answer);
      return;
    }
    this.#release();
    if (answer === "untaken") this.#serve(this.#last!.withBody(body));
    reportEnd(this.socket);
  };

  /** Refuses or serves a request. @returns the response that is to come, if it is served */
  #answer(request: WholeRequest, body: Buffer): LaneResponse | "refused" | "untaken" {
    const socket = this.socket;
    const { isClosing, settings, refuse, serve, tail } = this.#parts;
    if (!isAnswered(socket) || socket.writableLength > 0 || isClosing() || isEndLate(socket)) return "untaken";
    // The server closes the connection after its last request.
    if (requestsOn(socket) + 1 >= settings.maxRequestsPerConnection) return "untaken";
    const refusal = refuse(request, socket.remoteAddress, this.#limited > 0);
    if (refusal !== undefined) {
      countRequest(socket);
      socket.write(written(refusal, tail), "latin1");
      return "refused";
    }
    const { headers } = request;
    if (serve === undefined || headers === undefined) return "untaken";
    const incoming = new LaneRequest(socket, request, headers, body);
    const response = new LaneResponse(incoming, tail, this.#isLast);
    if (!serve(incoming, response)) return "untaken";
    countRequest(socket);
    return response;
  }

  readonly #isLast = (): boolean => this.#held.length === 0 && (this.#parts.isClosing() || isEndLate(this.socket));

  /** Holds the connection until the response ends, beyond this pass without the time-out of idle ones. */
  #await(response: LaneResponse): void {
    this.#response = response;
    if (response.isEnded) {
      this.#end();
      return;
    }
    response.onEnd = this.#end;
    inStep("write", this.#holding);
  }

  readonly #holding = {
    write: (): void => {
      if (this.#response === undefined || this.socket.destroyed) return;
      this.#idleMs = this.socket.timeout ?? 0;
      this.socket.setTimeout(0);
    },
  };

  readonly #end = (): void => {
    const socket = this.socket;
    const { closes, status } = this.#response!;
    this.#response = undefined;
    if (status === TOO_MANY) this.#limited = REMEMBERED;
    else if (this.#limited > 0) this.#limited -= 1;
    if (closes) {
      // After what it has written, which may wait for that step. What comes meanwhile stays unserved.
      inStep("write", { write: () => socket.destroySoon() });
      return;
    }
    if (this.#idleMs !== undefined && !socket.destroyed) socket.setTimeout(this.#idleMs);
    this.#idleMs = undefined;
    this.#release();
    if (isEndLate(socket)) inStep("write", this.#reporting);
  };

  readonly #reporting = { write: (): void => reportEnd(this.socket) };

  #release(): void {
    if (this.socket.destroyed) return;
    this.#isWaiting = false;
    if (this.#held.length > 0) this.#takeHeld();
    else this.#readOn();
  }

  #readOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.socket.resume();
  }

  /** Reads on, in a turn of its own: a client that sends the next request before the answer gets no more of the service's time. */
  #takeHeld(): void {
    const socket = this.socket;
    // What comes until then is held too.
    this.#isWaiting = true;
    setImmediate(() => {
      const chunk = Buffer.concat(this.#held);
      this.#held = [];
      if (socket.destroyed) return;
      this.#isWaiting = false;
      // Must come first: the receiver may stop further reads.
      this.#readOn();
      this.#take(chunk);
      reportEnd(socket);
    });
  }
}

function written({ status, headers, body }: Refusal, tail: HeadTail): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  for (let i = 0; i < headers.length; i += 2) text += `\r\n${headers[i]}: ${headers[i + 1]}`;
  return text + tail.text + body;
}

/**
 * True if the server has just read these very bytes as this one request, from the first to the last: a request of the same length
 * cannot be a part of them, so it began and ended with them.
 */
function isSame({ path, length }: WholeRequest, seen: IncomingMessage | undefined): boolean {
  return seen?.complete === true && seen.url === path && seen.headers["content-length"] === `${length}`;
}
