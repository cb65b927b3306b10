import type { ChildProcess } from "node:child_process";

/** What Node's cluster sends between a primary and its workers; internal to Node. */
interface ClusterMessage {
  readonly cmd?: unknown;
  readonly act?: unknown;
  readonly seq?: number;
  readonly ack?: number;
}

/** A connection that Node's cluster holds. */
interface Connection {
  close(): void;
}

const CLUSTER = "NODE_CLUSTER";
const HANDS_OVER = "newconn";

/**
 * Takes back the connections that were handed to a worker which ended before it answered for them, however it ended. Node keeps each
 * open in the primary until its worker says whether it takes it, and reports nothing if that never comes: the client would wait until its
 * own time-out. A worker reads nothing of a connection before it answers, so another can serve it from its first byte.
 *
 * It reads the cluster's internal messages. If a version of Node words them otherwise, nothing is taken back.
 *
 * @param canServe whether another worker serves now; if none does, the connections are closed
 */
export function takeBackConnections(worker: ChildProcess, canServe: () => boolean): void {
  /** Those on their way, by the number of the message. */
  const unanswered = new Map<number, Connection>();
  const send = worker.send.bind(worker) as (...parts: readonly unknown[]) => boolean;
  const noteAndSend = (message: ClusterMessage, connection?: unknown, ...rest: readonly unknown[]): boolean => {
    const { cmd, act, seq } = message;
    if (cmd === CLUSTER && act === HANDS_OVER && seq !== undefined) unanswered.set(seq, connection as Connection);
    return send(message, connection, ...rest);
  };
  worker.send = noteAndSend as ChildProcess["send"];
  worker.on("internalMessage", ({ ack }: ClusterMessage) => {
    if (ack !== undefined) unanswered.delete(ack);
  });
  let isDisconnected = false;
  worker.once("disconnect", () => {
    isDisconnected = true;
  });
  // All that the worker said has been read by then.
  worker.once("close", () => {
    // Node never says so where a connection was on its way, and its cluster would go on to hand others to this worker.
    if (!isDisconnected) worker.emit("disconnect");
    for (const [ack, connection] of unanswered) {
      if (canServe()) worker.emit("internalMessage", { cmd: CLUSTER, ack, accepted: false });
      else connection.close();
    }
  });
}
