import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { unendedOn } from "../flow/pipeline.ts";

/** Further requests that are still served on a connection whose answers close it: the client may have sent them before. */
const MOST_LATE = 64;

/** Closes HTTP/1.1 connections with the last answer that they owe, while the service drains. */
export class LastAnswers {
  /** By connection, the answer that closes it. */
  readonly #last = new WeakMap<Socket, ServerResponse>();
  readonly #late = new WeakMap<Socket, number>();

  /** Makes the last pending answer of a connection close it, if it is not written yet. */
  announce(socket: Socket): void {
    const last = unendedOn(socket).at(-1);
    if (last !== undefined) this.#close(socket, last);
  }

  /**
   * Makes the answer to this request, instead of the one before it, close the connection.
   *
   * @returns false if the request is not to be served: an answer before it says already that it is the last
   */
  take({ socket }: IncomingMessage, response: ServerResponse): boolean {
    const before = this.#last.get(socket);
    const late = (this.#late.get(socket) ?? 0) + 1;
    if (before?.headersSent === true || late > MOST_LATE) {
      // Also stops handing over further bytes that were read.
      socket.pause();
      return false;
    }
    this.#late.set(socket, late);
    if (before !== undefined) before.shouldKeepAlive = true;
    this.#close(socket, response);
    return true;
  }

  #close(socket: Socket, response: ServerResponse): void {
    // A client that asked to close, or a refusal, already has a last answer.
    if (response.headersSent || !response.shouldKeepAlive) return;
    response.shouldKeepAlive = false;
    this.#last.set(socket, response);
  }
}
