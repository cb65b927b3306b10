/** A window of 2^18 bytes, less the 16 that the format keeps from use. */
const NARROW_BYTES = (1 << 18) - 16;
/** The first four bits of a stream with a window of 2^18 to 2^24 bytes: a one, then 1 to 7. */
const IS_WIDE = 0b0001;
const WIDTH = 0b1110;
const NARROWEST = 0b0010;

/**
 * The same Brotli stream with a window of at most 2^18 bytes. A decoder fills the window of the stream before it passes on the first
 * byte, so that 80 bytes cost 12 ms and 16 MiB whatever the limit on what comes out. No message shorter than the window is changed
 * by it: nothing in it lies further back than its beginning.
 *
 * @param maxBytes of the message
 * @see https://www.rfc-editor.org/rfc/rfc7932#section-9.1
 */
export function withNarrowWindow(stream: Uint8Array, maxBytes: number): Uint8Array {
  const first = stream[0];
  if (first === undefined || maxBytes > NARROW_BYTES) return stream;
  if ((first & IS_WIDE) === 0 || (first & WIDTH) === 0) return stream;
  const narrow = Uint8Array.from(stream);
  narrow[0] = (first & ~WIDTH) | NARROWEST;
  return narrow;
}
