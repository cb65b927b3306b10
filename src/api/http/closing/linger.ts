import type { Socket } from "node:net";
import { pauseReading, readByStream, resumeReading } from "../flow/hold-reading.ts";
import { answeredEarlyOn } from "../flow/pipeline.ts";
import { declaredBytes } from "../read-body.ts";
import { MOST_DROPPING_MS, SILENT_DROPPING_MS, takeDrop } from "./dropped-bodies.ts";

/**
 * Ends our side of an HTTP/1.1 connection and drops what still comes, unparsed, until the client ends its own. A client that is still
 * writing would be reset if the connection closed now, and might never read its answer.
 *
 * @param mostBytes dropped; a client that sends more is cut off. 0: nothing is read, and the connection closes once its client is silent
 */
export function linger(socket: Socket, mostBytes: number): void {
  socket.end();
  const silent = setTimeout(() => socket.destroy(), SILENT_DROPPING_MS);
  const late = setTimeout(() => socket.destroy(), MOST_DROPPING_MS);
  socket.once("close", () => {
    clearTimeout(silent);
    clearTimeout(late);
  });
  if (mostBytes === 0) {
    pauseReading(socket);
    return;
  }
  let left = mostBytes;
  const drop = ({ length }: Buffer) => {
    left -= length;
    if (left < 0) socket.destroy();
    else silent.refresh();
  };
  // Once we add a listener, the server's parser no longer reads the connection.
  socket.removeAllListeners("data").on("data", drop);
  resumeReading(socket);
  readByStream(socket);
}

/** Has the HTTP server close the connection in this way after an answer to a request that it has not read to its end. */
export function lingerAfterEarlyAnswers(socket: Socket): void {
  const closeNow = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const unread = answeredEarlyOn(socket);
    if (unread === undefined) {
      closeNow();
      return;
    }
    const declared = declaredBytes(unread);
    linger(socket, declared === 0 ? 0 : takeDrop(declared, socket));
  };
}
