import type { Socket } from "node:net";

/** What Node's HTTP server keeps on a socket to hold its parser back; internal to Node, so it may be missing. */
interface HeldSocket {
  _paused?: boolean;
  readonly parser?: { resume?(): void } | null;
}

/** Reads no more of an HTTP/1.1 connection once what has been read is parsed. */
export function pauseReading(socket: Socket): void {
  (socket as HeldSocket)._paused = true;
  socket.pause();
}

/** Reads on. */
export function resumeReading(socket: Socket): void {
  const held = socket as HeldSocket;
  held._paused = false;
  held.parser?.resume?.();
  socket.resume();
}

/** True while reading is paused: the connection's reader must not change then. */
export const isHeld = (socket: Socket): boolean => (socket as HeldSocket)._paused === true;
