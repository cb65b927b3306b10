/** Bytes of a frame before its payload: length (3), type, flags, stream (4). */
const FRAME_HEAD = 9;
const HEADERS = 1;

/**
 * Counts the requests that the first bytes of an HTTP/2 connection begin, by the heads of its frames alone.
 *
 * @param from where the first frame begins
 */
export function countRequests(bytes: Buffer, from: number): number {
  let requests = 0;
  let newest = 0;
  for (let at = from; at + FRAME_HEAD <= bytes.length; at += FRAME_HEAD + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] !== HEADERS) continue;
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff;
    // Trailers belong to a stream that is open already.
    if (stream <= newest) continue;
    newest = stream;
    requests++;
  }
  return requests;
}
