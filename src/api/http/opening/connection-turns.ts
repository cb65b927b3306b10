import type { Socket } from "node:net";

/**
 * Bytes that all connections waiting for their turn may hold: what was read of each, and a share for what Node reads of it meanwhile.
 * Honest clients have sent little by then, and many come at once after a restart: there is room for a thousand.
 */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const SHARE_BYTES = 16 * 1024;

/** Begins connections, one in a turn of the event loop, in the order of their coming: what each has sent at first takes its time. */
export class ConnectionTurns {
  readonly #waiting: (() => void)[] = [];
  #heldBytes = 0;
  #hasBegun = false;

  /**
   * Begins a connection now or in one of the next turns, unless it is gone by then.
   *
   * @param readBytes how much was read of it and put back
   * @returns false, with nothing done, if those that wait hold too much
   */
  take(socket: Socket, readBytes: number, begin: () => void): boolean {
    const heldBytes = SHARE_BYTES + readBytes;
    if (this.#heldBytes + heldBytes > MAX_HELD_BYTES) return false;
    if (!this.#hasBegun) {
      this.#begin(begin);
      return true;
    }
    // Nobody else listens while it waits: without a listener, Node ends the process.
    socket.on("error", ignore);
    this.#heldBytes += heldBytes;
    this.#waiting.push(() => {
      this.#heldBytes -= heldBytes;
      if (!socket.destroyed) this.#begin(begin);
    });
    return true;
  }

  #begin(begin: () => void): void {
    this.#hasBegun = true;
    setImmediate(this.#endTurn);
    begin();
  }

  readonly #endTurn = (): void => {
    this.#hasBegun = false;
    while (!this.#hasBegun && this.#waiting.length > 0) this.#waiting.shift()!();
  };
}

/** For sockets whose errors say only that they are gone. */
export function ignore(): void {}
