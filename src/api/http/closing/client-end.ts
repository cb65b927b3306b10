import type { Socket } from "node:net";
import { isHeld } from "../flow/hold-reading.ts";
import { unendedOn } from "../flow/pipeline.ts";

/** A listener that remains when the server removes its own. */
interface EndListener {
  (this: Socket): void;
  listener?: (this: Socket) => void;
}

/** By connection, the function that reports an end that the server does not know of yet. */
const late = new WeakMap<Socket, () => void>();

/** True if the client has ended its side, and the server does not know of it yet. */
export const isEndLate = (socket: Socket): boolean => late.has(socket);

/** Tells the server about an end that was held back. */
export function reportEnd(socket: Socket): void {
  late.get(socket)?.();
}

/**
 * Answers what a client sent before it ended its side of an HTTP/1.1 connection, then closes the connection. An answer that is still in
 * progress, such as a stream's, is cut: a client that ended its side may as well be gone. To be called right after the server has taken the
 * connection.
 *
 * @param isServing true while a call is in flight that the server does not know of
 */
export function answerBeforeEnd(socket: Socket, isServing: (socket: Socket) => boolean): void {
  const onEnd = socket.listeners("end").at(-1) as EndListener | undefined;
  if (onEnd === undefined) return;
  const report: EndListener = () => {
    // The server would know neither that call nor requests that wait to be parsed.
    const isKept = isHeld(socket);
    if (isKept || isServing(socket)) {
      late.set(socket, report as () => void);
      if (isKept) socket.once("resume", report);
      return;
    }
    late.delete(socket);
    // No longer there if the connection has left HTTP.
    if (socket.destroyed || !socket.rawListeners("end").includes(report)) return;
    announceEnd(socket);
    onEnd.call(socket);
  };
  report.listener = onEnd;
  socket.off("end", onEnd).on("end", report);
}

/** Makes the connection's last pending answer say that it closes the connection, and cuts an endless one. */
function announceEnd(socket: Socket): void {
  const responses = unendedOn(socket);
  if (responses.some(({ headersSent, writableEnded }) => headersSent && !writableEnded)) socket.destroy();
  const last = responses.at(-1);
  if (last !== undefined && !last.headersSent) last.shouldKeepAlive = false;
}
