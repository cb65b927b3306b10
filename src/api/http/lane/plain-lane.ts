import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Now } from "../../../primitives/clock.ts";
import { inNextPass, inStep } from "../../../primitives/turns/pass.ts";
import type { ApiSettings } from "../../settings.ts";
import { isEndLate, reportEnd } from "../closing/client-end.ts";
import { isAnswered } from "../flow/pipeline.ts";
import { countRequest, requestsOn } from "../flow/request-count.ts";
import { HeadTail } from "./head-tail.ts";
import { LaneRequest, LaneResponse } from "./lane-exchange.ts";
import { readWholeRequest, type WholeRequest } from "./whole-request.ts";

/** Longest request read here: a head and a body as small as those of trades. */
const MAX_BYTES = 8 * 1024;

const TOO_MANY = 429;
/** Answers for which a 429 is remembered: a client beyond its limit is served now and then. */
const REMEMBERED = 16;

/** The response to a refused request. Headers and body are ASCII. */
export interface Refusal {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Whom a request of a watched connection comes from. */
export interface Asking {
  /** Undefined once the connection is gone. */
  readonly remoteAddress: string | undefined;
  /** True if one of its latest requests was answered with 429: only then is it worth a look whether this one is. */
  readonly wasLimited: boolean;
}

/** Refuses a request of a watched connection; undefined, with nothing counted, if it is not to be refused. */
export type RefuseAgain = (request: WholeRequest, asking: Asking) => Refusal | undefined;

/** Called once a request is refused and its response is ended. */
export type OnRefused = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves a request to the end of its response; false, with nothing done, if the server has to. */
export type ServeWhole = (request: LaneRequest, response: LaneResponse) => boolean;

interface LaneParts {
  readonly settings: Pick<ApiSettings, "keepAliveHintMs" | "keepAliveMs" | "maxRequestsPerConnection">;
  /** True if every response closes its connection. */
  readonly isClosing: () => boolean;
  readonly wallMs: Now;
  readonly refuse: RefuseAgain;
  /** Absent: requests are only refused here. */
  readonly serve?: ServeWhole | undefined;
}

/** A connection that is watched. */
interface Watched {
  /** Whether its server is known to be between two requests whenever it has read all that came. */
  isInStep: boolean;
  /** The last request that its server handed over. */
  seen: IncomingMessage | undefined;
  /** The last request read here. */
  last: WholeRequest | undefined;
  /** True while a request taken here waits for its answer. */
  isWaiting: boolean;
  /** What came meanwhile: at most one read, for then the connection is paused. */
  held: Buffer[];
  isPaused: boolean;
  /** Answers to come before an answer with 429 is forgotten. */
  limited: number;
}

/**
 * Serves and refuses requests of HTTP/1.1 connections from the bytes alone, after two that the server read: much of what a call costs is
 * the HTTP server's parsing and its objects. Whatever is not exactly one complete request in plain form goes on to the server unread, and
 * ends the watch: from then on only the server knows where a request begins. So does a request that is not taken here, which ends nothing.
 */
export class PlainLane {
  readonly #watched = new WeakMap<Socket, Watched>();
  readonly #parts: LaneParts;
  readonly #serving = new Set<Socket>();
  readonly #tail: HeadTail;

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.#tail = new HeadTail(parts.settings, parts.wallMs);
  }

  /** Connections of calls in flight: to the server they look idle. */
  get serving(): ReadonlySet<Socket> {
    return this.#serving;
  }

  /**
   * Watches the connection of a request that the server has just handed over, from its next request on. In step are only connections
   * whose requests are handed over in the turn in which the server reads them.
   */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const known = this.#watched.get(socket);
    if (known !== undefined) {
      if (!known.isInStep) known.seen = request;
      return;
    }
    if (request.httpVersionMajor !== 1) return;
    const watched: Watched = {
      isInStep: false,
      seen: undefined,
      last: undefined,
      isWaiting: false,
      held: [],
      isPaused: false,
      limited: 0,
    };
    this.#watched.set(socket, watched);
    response.once("close", () => {
      if (socket.destroyed) return;
      // While requests wait behind this one, what is read is held back; the reader must not change then.
      if (isAnswered(socket)) this.#listen(socket, watched);
      else this.#watched.delete(socket);
    });
  }

  #listen(socket: Socket, watched: Watched): void {
    const listeners = socket.listeners("data") as ((chunk: Buffer) => void)[];
    const serve = (chunk: Buffer) => {
      for (const listener of listeners) listener.call(socket, chunk);
    };
    const closed = () => void this.#serving.delete(socket);
    // From the first listener of ours on, Node hands its parser what the socket reads by way of these listeners.
    const take = (chunk: Buffer): void => {
      if (watched.isWaiting) {
        watched.held.push(chunk);
        watched.isPaused = true;
        socket.pause();
        return;
      }
      const request = readWholeRequest(chunk, MAX_BYTES, watched.last);
      watched.last = request ?? watched.last;
      if (!watched.isInStep) {
        watched.seen = undefined;
        serve(chunk);
        watched.isInStep = request !== undefined && isSame(request, watched.seen);
        watched.seen = undefined;
      } else if (request === undefined) {
        socket.off("data", take).off("close", closed);
        for (const listener of listeners) socket.on("data", listener);
        this.#watched.delete(socket);
        serve(chunk);
      } else this.#answerInPass(socket, watched, request, chunk, take, serve);
    };
    socket.on("data", take).on("close", closed);
    for (const listener of listeners) socket.off("data", listener);
  }

  /**
   * Answers with the other requests of this turn. Until then the connection is held as it is: to the server it looks idle.
   *
   * @param take reads what came meanwhile
   * @param serve hands the bytes to the server instead
   */
  #answerInPass(
    socket: Socket,
    watched: Watched,
    request: WholeRequest,
    chunk: Buffer,
    take: (chunk: Buffer) => void,
    serve: (chunk: Buffer) => void,
  ): void {
    watched.isWaiting = true;
    this.#serving.add(socket);
    inNextPass(socket, () => {
      if (socket.destroyed) return;
      const answer = this.#answer(socket, watched, request, chunk);
      if (answer instanceof LaneResponse) {
        this.#await(socket, watched, answer, take);
        return;
      }
      this.#release(socket, watched, take);
      if (answer === "untaken") serve(chunk);
      reportEnd(socket);
    });
  }

  /** Refuses or serves a request. @returns the response that is to come, if it is served */
  #answer(
    socket: Socket,
    watched: Watched,
    request: WholeRequest,
    chunk: Buffer,
  ): LaneResponse | "refused" | "untaken" {
    const { isClosing, settings, refuse, serve } = this.#parts;
    if (!isAnswered(socket) || socket.writableLength > 0 || isClosing() || isEndLate(socket)) return "untaken";
    // The server closes the connection after its last request.
    if (requestsOn(socket) + 1 >= settings.maxRequestsPerConnection) return "untaken";
    const { remoteAddress } = socket;
    const refusal = refuse(request, { remoteAddress, wasLimited: watched.limited > 0 });
    if (refusal !== undefined) {
      countRequest(socket);
      socket.write(this.#write(refusal), "latin1");
      return "refused";
    }
    const { headers } = request;
    if (serve === undefined || headers === undefined) return "untaken";
    const incoming = new LaneRequest(socket, request, headers, request.bodyIn(chunk));
    const isLast = () => watched.held.length === 0 && (isClosing() || isEndLate(socket));
    const response = new LaneResponse(incoming, this.#tail, isLast);
    if (!serve(incoming, response)) return "untaken";
    countRequest(socket);
    return response;
  }

  /** Holds the connection until the response ends, beyond this pass without the time-out of idle ones. */
  #await(socket: Socket, watched: Watched, response: LaneResponse, take: (chunk: Buffer) => void): void {
    let idleMs: number | undefined;
    const end = () => {
      noteStatus(watched, response);
      if (response.closes) {
        // After what it has written, which may wait for that step. What comes meanwhile stays unserved.
        inStep("write", () => socket.destroySoon());
        return;
      }
      if (idleMs !== undefined && !socket.destroyed) socket.setTimeout(idleMs);
      this.#release(socket, watched, take);
      inStep("write", () => reportEnd(socket));
    };
    if (response.isEnded) {
      end();
      return;
    }
    response.onEnd = end;
    inStep("write", () => {
      if (response.isEnded || socket.destroyed) return;
      idleMs = socket.timeout ?? 0;
      socket.setTimeout(0);
    });
  }

  #release(socket: Socket, watched: Watched, take: (chunk: Buffer) => void): void {
    this.#serving.delete(socket);
    if (socket.destroyed) return;
    watched.isWaiting = false;
    if (watched.held.length > 0) this.#takeHeld(socket, watched, take);
    else readOn(socket, watched);
  }

  /** Reads on, in a turn of its own: a client that sends the next request before the answer gets no more of the service's time. */
  #takeHeld(socket: Socket, watched: Watched, take: (chunk: Buffer) => void): void {
    // What comes until then is held too.
    watched.isWaiting = true;
    this.#serving.add(socket);
    setImmediate(() => {
      this.#serving.delete(socket);
      const chunk = Buffer.concat(watched.held);
      watched.held = [];
      if (socket.destroyed) return;
      watched.isWaiting = false;
      // First: what takes this may want nothing more read.
      readOn(socket, watched);
      take(chunk);
      reportEnd(socket);
    });
  }

  #write({ status, headers, body }: Refusal): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
    for (let i = 0; i < headers.length; i += 2) text += `\r\n${headers[i]}: ${headers[i + 1]}`;
    return text + this.#tail.text + body;
  }
}

function noteStatus(watched: Watched, { status }: LaneResponse): void {
  if (status === TOO_MANY) watched.limited = REMEMBERED;
  else if (watched.limited > 0) watched.limited -= 1;
}

function readOn(socket: Socket, watched: Watched): void {
  if (!watched.isPaused) return;
  watched.isPaused = false;
  socket.resume();
}

/**
 * True if the server has just read these very bytes as this one request, from the first to the last: a request of the same length
 * cannot be a part of them, so it began and ended with them.
 */
function isSame({ path, length }: WholeRequest, seen: IncomingMessage | undefined): boolean {
  return seen?.complete === true && seen.url === path && seen.headers["content-length"] === length;
}
