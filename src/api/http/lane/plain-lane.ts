import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Now } from "../../../primitives/clock.ts";
import type { ApiSettings } from "../../settings.ts";
import { isAnswered } from "../flow/pipeline.ts";
import { HeadTail } from "./head-tail.ts";
import { LaneConnection, type LaneParts } from "./lane-connection.ts";

/** Called once a request is refused and its response is ended. */
export type OnRefused = (request: IncomingMessage, response: ServerResponse) => void;

/** Connections of calls in flight that the server does not know of: to it they look idle. */
export interface ServingConnections {
  /** True of one of them. */
  isServing(socket: Socket): boolean;
  /** All of them. */
  serving(): readonly Socket[];
}

interface PlainParts extends Pick<LaneParts, "isClosing" | "refuse" | "serve"> {
  readonly settings: Pick<ApiSettings, "keepAliveHintMs" | "keepAliveMs" | "maxRequestsPerConnection">;
  readonly wallMs: Now;
}

/**
 * Serves and refuses requests of HTTP/1.1 connections from the bytes alone, after two that the server read: much of what a call costs is
 * the HTTP server's parsing and its objects. Whatever is not exactly one complete request in plain form goes on to the server unread, and
 * ends the watch: from then on only the server knows where a request begins. So does a request that is not taken here, which ends nothing.
 */
export class PlainLane implements ServingConnections {
  readonly #watched = new WeakMap<Socket, LaneConnection>();
  readonly #parts: LaneParts;

  constructor({ wallMs, ...parts }: PlainParts) {
    const tail = new HeadTail(parts.settings, wallMs);
    this.#parts = { ...parts, tail, read: new Set(), forget: (socket) => void this.#watched.delete(socket) };
  }

  isServing(socket: Socket): boolean {
    return this.#watched.get(socket)?.isServing === true;
  }

  serving(): readonly Socket[] {
    return [...this.#parts.read].filter(({ isServing }) => isServing).map(({ socket }) => socket);
  }

  /**
   * Watches the connection of a request that the server has just handed over, from its next request on. In step are only connections
   * whose requests are handed over in the turn in which the server reads them.
   */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const known = this.#watched.get(socket);
    if (known !== undefined) {
      known.see(request);
      return;
    }
    if (request.httpVersionMajor !== 1) return;
    const connection = new LaneConnection(socket, this.#parts);
    this.#watched.set(socket, connection);
    response.once("close", () => {
      if (socket.destroyed) return;
      // While requests wait behind this one, what is read is held back; the reader must not change then.
      if (isAnswered(socket)) connection.listen();
      else this.#watched.delete(socket);
    });
  }
}
