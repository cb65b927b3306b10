import type { Socket } from "node:net";
import { pauseReading, readByStream, resumeReading } from "../flow/hold-reading.ts";
import { answeredEarlyOn } from "../flow/pipeline.ts";
import { declaredBytes } from "../read-body.ts";

/** How long a client may be silent before the connection closes. Milliseconds. */
const SILENT_MS = 2_500;
/** How long it may take in all to send what is dropped. Milliseconds. */
const MOST_MS = 10_000;
/**
 * The longest body that is read and dropped so that its client reads the answer: many write a whole body before they read. Of a longer
 * one nothing more is read.
 */
const DROPPED_BYTES = 8 * 1024 * 1024;
/** Connections whose bodies are dropped at once: reads hold memory until the collector runs. Of others nothing more is read. */
const MOST_DROPPING = 16;
let dropping = 0;

/**
 * Ends our side of an HTTP/1.1 connection and drops what still comes, unparsed, until the client ends its own. A client that is still
 * writing would be reset if the connection closed now, and might never read its answer.
 *
 * @param mostBytes dropped; a client that sends more is cut off. 0: nothing is read, and the connection closes once its client is silent
 */
export function linger(socket: Socket, mostBytes: number): void {
  socket.end();
  const silent = setTimeout(() => socket.destroy(), SILENT_MS);
  const late = setTimeout(() => socket.destroy(), MOST_MS);
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
    if (declared === 0 || declared > DROPPED_BYTES || dropping === MOST_DROPPING) {
      linger(socket, 0);
      return;
    }
    dropping += 1;
    socket.once("close", () => {
      dropping -= 1;
    });
    linger(socket, declared);
  };
}
