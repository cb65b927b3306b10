import { Socket } from "node:net";
import { TLSSocket } from "node:tls";

/** Parts of a socket that Node sets if one is made with the option `onread`; internal to Node, so any may be missing. */
interface ReadingSocket {
  [part: symbol]: unknown;
  readonly _handle?: { useUserBuffer?(bytes: Uint8Array): void } | null;
}

/** As much as Node reads at a time. Bytes. */
const SIZE = 64 * 1024;

/** The last read of any connection: the next read overwrites it. */
export const lastRead = Buffer.allocUnsafeSlow(SIZE);

const parts = Object.getOwnPropertySymbols(new Socket());
const [BUFFER, CALLBACK, NEXT_BUFFER] = ["kBuffer", "kBufferCb", "kBufferGen"].map((part) =>
  parts.find(({ description }) => description === part),
);

/**
 * Has a connection read into `lastRead` from now on. Otherwise Node takes 64 KiB for each read and gives most of them back, and the bytes
 * pass through the socket's stream. Does nothing with a Node that lacks the parts for it, nor with TLS, whose records are counted there.
 *
 * @param take takes what was read, as many bytes as it is told; false, with nothing done, to have it pass through the stream after all
 */
export function shareReads(socket: Socket, take: (length: number) => boolean): void {
  const reading = socket as unknown as ReadingSocket;
  const { _handle: handle } = reading;
  if (BUFFER === undefined || CALLBACK === undefined || NEXT_BUFFER === undefined) return;
  if (socket instanceof TLSSocket || typeof handle?.useUserBuffer !== "function") return;
  reading[CALLBACK] = (length: number) => take(length) || socket.push(Buffer.from(lastRead.subarray(0, length)));
  if (reading[BUFFER] === lastRead) return;
  reading[NEXT_BUFFER] = null;
  reading[BUFFER] = lastRead;
  handle.useUserBuffer(lastRead);
}
