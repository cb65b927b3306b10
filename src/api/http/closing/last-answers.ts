import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { unendedOn } from "../flow/pipeline.ts";

/** Further requests of a connection that are served once its answers close it: those that the client may have sent before. */
const MOST_LATE = 64;

/** Closes HTTP/1.1 connections with the last answer that they owe, while the service drains. */
export class LastAnswers {
  /** By connection, the answer that closes it. */
  readonly #last = new WeakMap<Socket, ServerResponse>();
  readonly #late = new WeakMap<Socket, number>();

  /** Has the last answer to come on a connection close it, if it is not written yet. */
  announce(socket: Socket): void {
    const last = unendedOn(socket).at(-1);
    if (last !== undefined) this.#close(socket, last);
  }

  /**
   * Has the answer to this request close its connection in place of the one before it.
   *
   * @returns false if the request is not to be served: an answer before it says already that it is the last
   */
  take({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const before = this.#last.get(socket);
    const late = (this.#late.get(socket) ?? 0) + 1;
    if (before?.headersSent === true || late > MOST_LATE) {
      // Nor is more of what was read handed over.
      socket.pause();
      return false;
    }
    this.#late.set(socket, late);
    if (before !== undefined) before.shouldKeepAlive = true;
    this.#close(socket, response);
    return true;
  }

  #close(socket: Socket, response: ServerResponse): void {
    // A client that asked for this, or a refusal, has its own last answer.
    if (response.headersSent || !response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    this.#last.set(socket, response);
  }
}
