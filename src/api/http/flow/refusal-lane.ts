import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Now } from "../../../primitives/clock.ts";
import type { ApiSettings } from "../../settings.ts";
import { isAnswered } from "./pipeline.ts";
import { countRequest, requestsOn } from "./request-count.ts";
import { readWholeRequest, type WholeRequest } from "./whole-request.ts";

/** Longest request read here: a head and a body as small as those of trades. */
const MAX_BYTES = 8 * 1024;

/** The response to a refused request. Headers and body are ASCII. */
export interface Refusal {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Refuses another request of a connection; undefined, with nothing counted, if it is to be served. */
export type RefuseAgain = (request: WholeRequest) => Refusal | undefined;

/** Called once a request is refused and its response is ended. */
export type OnRefused = (request: IncomingMessage, response: ServerResponse) => void;

interface LaneParts {
  readonly settings: Pick<ApiSettings, "keepAliveHintMs" | "keepAliveMs" | "maxRequestsPerConnection">;
  /** True if every response closes its connection. */
  readonly isClosing: () => boolean;
  readonly wallMs: Now;
  readonly refuse: RefuseAgain;
}

/** A connection that is watched. */
interface Watched {
  /** Whether its server is known to be between two requests whenever it has read all that came. */
  isInStep: boolean;
  /** The last request that was refused by the server. */
  refused: IncomingMessage | undefined;
}

/**
 * Refuses again on HTTP/1.1 connections that were refused before, from the bytes alone: most of what a refusal costs is the HTTP
 * server's parsing and its objects. Whatever is not exactly one complete request in plain form goes on to the server unread, and ends
 * the watch: from then on only the server knows where a request begins. So does a request that is to be served, which ends nothing.
 */
export class RefusalLane {
  readonly #watched = new WeakMap<Socket, Watched>();
  readonly #parts: LaneParts;
  /** What every answer ends with. */
  readonly #keepAlive: string;
  #dateMs = Number.NaN;
  #date = "";

  constructor(parts: LaneParts) {
    this.#parts = parts;
    const { keepAliveHintMs, keepAliveMs, maxRequestsPerConnection: most } = parts.settings;
    const timeout = Math.floor(Math.min(keepAliveHintMs, keepAliveMs) / 1_000);
    this.#keepAlive = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${timeout}, max=${most}\r\n\r\n`;
  }

  /**
   * Watches the connection of a request that the server has just refused, from its next request on. In step are only connections
   * whose requests are refused in the turn in which the server reads them.
   */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const known = this.#watched.get(socket);
    if (known !== undefined) {
      if (!known.isInStep) known.refused = request;
      return;
    }
    if (request.httpVersionMajor !== 1) return;
    const watched: Watched = { isInStep: false, refused: undefined };
    this.#watched.set(socket, watched);
    response.once("close", () => {
      if (socket.destroyed) return;
      // While requests wait behind this one, what is read is held back; who reads must not change then.
      if (isAnswered(socket)) this.#listen(socket, watched);
      else this.#watched.delete(socket);
    });
  }

  #listen(socket: Socket, watched: Watched): void {
    const listeners = socket.listeners("data") as ((chunk: Buffer) => void)[];
    const serve = (chunk: Buffer) => {
      for (const listener of listeners) listener.call(socket, chunk);
    };
    // From the first listener of ours on, Node hands its parser what the socket reads by way of these listeners.
    const take = (chunk: Buffer): void => {
      const request = readWholeRequest(chunk, MAX_BYTES);
      if (!watched.isInStep) {
        watched.refused = undefined;
        serve(chunk);
        watched.isInStep = request !== undefined && isSame(request, watched.refused);
        watched.refused = undefined;
      } else if (request === undefined) {
        socket.off("data", take);
        for (const listener of listeners) socket.on("data", listener);
        serve(chunk);
      } else if (!this.#answer(socket, request)) serve(chunk);
    };
    socket.on("data", take);
    for (const listener of listeners) socket.off("data", listener);
  }

  #answer(socket: Socket, request: WholeRequest): boolean {
    const { isClosing, settings, refuse } = this.#parts;
    if (!isAnswered(socket) || socket.writableLength > 0 || isClosing()) return false;
    // The server closes the connection after its last request.
    if (requestsOn(socket) + 1 >= settings.maxRequestsPerConnection) return false;
    const refusal = refuse(request);
    if (refusal === undefined) return false;
    countRequest(socket);
    socket.write(this.#write(refusal), "latin1");
    return true;
  }

  #write({ status, headers, body }: Refusal): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
    return `${text}Date: ${this.#today()}${this.#keepAlive}${body}`;
  }

  #today(): string {
    const nowMs = this.#parts.wallMs();
    if (!(nowMs >= this.#dateMs && nowMs < this.#dateMs + 1_000)) {
      this.#dateMs = nowMs - (nowMs % 1_000);
      this.#date = new Date(nowMs).toUTCString();
    }
    return this.#date;
  }
}

/**
 * True if the server has just read these very bytes as this one request, from the first to the last: a request of the same length
 * cannot be a part of them, so it began and ended with them.
 */
function isSame({ path, length }: WholeRequest, refused: IncomingMessage | undefined): boolean {
  return refused?.complete === true && refused.url === path && refused.headers["content-length"] === length;
}
