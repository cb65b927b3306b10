import type { TLSSocket } from "node:tls";
import { stopReading } from "../flow/hold-reading.ts";

/** Records of one connection in a turn of the event loop, and such as have few bytes on average. */
const MOST_IN_TURN = 1_024;
const MOST_SMALL = 256;
const SMALL_BYTES = 16;

/**
 * Closes a TLS connection whose data comes in too many records. Each takes some microseconds, however small it is, and one turn may read
 * 20,000 of a byte. Honest clients put a request into one or two, and 16 requests wait at most.
 */
export function boundRecords(socket: TLSSocket): void {
  const { push } = socket;
  let records = 0;
  let bytes = 0;
  let isFlooding = false;
  const endTurn = () => {
    records = 0;
    bytes = 0;
  };
  socket.push = (record, encoding) => {
    if (isFlooding) return false;
    if (record !== null) {
      if (records++ === 0) setImmediate(endTurn);
      bytes += (record as Buffer).length;
      isFlooding = records > MOST_IN_TURN || (records > MOST_SMALL && bytes < records * SMALL_BYTES);
    }
    if (!isFlooding) return push.call(socket, record, encoding);
    stopReading(socket);
    setImmediate(() => socket.destroy());
    return false;
  };
}
