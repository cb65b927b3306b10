import type { Duplex } from "node:stream";

/** How long a client may be silent before the end of a long body that is dropped. Milliseconds. */
export const SILENT_DROPPING_MS = 2_500;
/** How long it may take in all to send what is dropped. Milliseconds. */
export const MOST_DROPPING_MS = 10_000;
/**
 * The longest body that is read and dropped so that its client reads the answer: many write a whole body before they read. Of a longer
 * one nothing more is read.
 */
const DROPPED_BYTES = 8 * 1024 * 1024;
/** Long bodies dropped at once, of all connections: reads hold memory until the collector runs. */
const MOST_DROPPING = 16;
let dropping = 0;

/**
 * Takes one of the places for long bodies that are read and dropped, until its carrier closes.
 * @param declaredBytes length of the body; absent: as long as any that is dropped
 * @param carrier the connection of HTTP/1.1, or the stream of HTTP/2
 * @returns the bytes to drop at most; 0 if the body is longer, no place is free, or the carrier is closed: its end may have passed
 */
export function takeDrop(declaredBytes: number | undefined, carrier: Duplex): number {
  const bytes = declaredBytes ?? DROPPED_BYTES;
  if (bytes > DROPPED_BYTES || dropping === MOST_DROPPING || carrier.destroyed || carrier.closed) return 0;
  dropping += 1;
  carrier.once("close", () => {
    dropping -= 1;
  });
  return bytes;
}
