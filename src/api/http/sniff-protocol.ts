import type { Socket } from "node:net";
import type { ApiSettings } from "../settings.ts";

/** What every HTTP/2 connection begins with. */
export const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** Serves a connection from its first byte. @param first what was read of it, if anything; HTTP/2's is put back already */
export type ServeConnection = (socket: Socket, first?: Buffer) => void;

/**
 * Reads the first bytes of a connection and passes it to the protocol they belong to. Destroys it if it ends, fails, stays
 * silent for too long or takes too long over HTTP/2's preface.
 *
 * @param undecided holds the socket until its protocol is known
 * @param serveHttp1 puts back what was read
 */
export function sniffProtocol(
  socket: Socket,
  settings: ApiSettings,
  undecided: Set<Socket>,
  serveHttp1: (socket: Socket, first: Buffer) => void,
  serveHttp2: ServeConnection,
): void {
  // Bytes are held here while undecided: putting them back makes the socket readable again at once.
  let held: Buffer | undefined;
  let deadline: NodeJS.Timeout | undefined;
  const release = () => {
    undecided.delete(socket);
    clearTimeout(deadline);
    socket
      .off("readable", read)
      .off("end", abandon)
      .off("close", release)
      .off("error", abandon)
      .off("timeout", abandon);
    socket.setTimeout(0);
  };
  const abandon = () => {
    release();
    socket.destroy();
  };
  const read = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    const seen = held === undefined ? chunk : Buffer.concat([held, chunk]);
    const length = Math.min(seen.length, HTTP2_PREFACE.length);
    const isHttp2 = seen.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length));
    if (isHttp2 && length < HTTP2_PREFACE.length) {
      held = seen;
      // Counts from the first byte: the socket's own timeout restarts at every byte.
      deadline ??= setTimeout(abandon, settings.headersTimeoutMs);
      return;
    }
    release();
    if (!isHttp2) return serveHttp1(socket, seen);
    socket.unshift(seen);
    // An HTTP/1.1 client may end its side and still read the response; an HTTP/2 session without its peer would never end.
    socket.allowHalfOpen = false;
    serveHttp2(socket, seen);
  };
  undecided.add(socket);
  socket.on("readable", read).on("end", abandon).on("close", release).on("error", abandon).on("timeout", abandon);
  socket.setTimeout(settings.keepAliveMs);
}
