import type { Socket } from "node:net";

/** What Node's HTTP server keeps on a socket to hold its parser back; internal to Node, so it may be missing. */
interface HeldSocket {
  _paused?: boolean;
  readonly parser?: { resume?(): void } | null;
  readonly _handle?: { reading?: boolean; readStart?(): void; readStop?(): void } | null;
}

/** Stops reading an HTTP/1.1 connection once the bytes already read are parsed. */
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

/** Stops reading a connection that will be closed: the rest of the turn's reads, up to 2 MiB, stays in the system's buffers. */
export function stopReading(socket: Socket): void {
  (socket as HeldSocket)._handle?.readStop?.();
}

/**
 * Resumes reading through the connection's stream after a pause in which the parser was detached: the stream believes that it is already
 * being read.
 */
export function readByStream(socket: Socket): void {
  socket.resume();
  const { _handle: handle } = socket as HeldSocket;
  if (handle == null || handle.reading !== false) return;
  handle.reading = true;
  handle.readStart?.();
}
