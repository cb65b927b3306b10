import type { OtherWorkers } from "../app/other-workers.ts";
import { Address } from "../primitives/address.ts";

/** What a worker says of a landed transaction; the primary passes it on to the other workers. */
interface WrittenMessage {
  /** The accounts that it has written, 32 bytes each, in base64. */
  readonly written: string;
  /** In decimal. */
  readonly slot: string;
}

/** The side of a worker of its channel to the primary. `process` is one. */
interface WorkerChannel {
  send?(message: unknown, handle: undefined, options: undefined, onSent: () => void): boolean;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

const ADDRESS_BYTES = 32;

/** True if the message is for the other workers. */
export const isForOtherWorkers = (message: unknown): boolean =>
  typeof message === "object" && message !== null && "written" in message;

/** Messages kept until somebody listens: of far more seconds than a state is awaited. */
const MOST_KEPT = 2_000;

/** The other workers, through the primary. What they tell before somebody listens here is received then: a worker reads state as it starts. */
export function reachOtherWorkers(channel: WorkerChannel): OtherWorkers {
  const early: WrittenMessage[] = [];
  let receive = (message: WrittenMessage): void => {
    early.push(message);
    if (early.length > MOST_KEPT) early.shift();
  };
  channel.on("message", (message) => {
    if (isForOtherWorkers(message)) receive(message as WrittenMessage);
  });
  return {
    tellWritten(accounts, slot) {
      const bytes = Buffer.allocUnsafe(accounts.length * ADDRESS_BYTES);
      for (const [i, address] of accounts.entries()) address.write(bytes, i * ADDRESS_BYTES);
      const message: WrittenMessage = { written: bytes.toString("base64"), slot: `${slot}` };
      // With a callback, a primary that is gone raises no error here.
      channel.send?.(message, undefined, undefined, () => {});
    },
    listen(onWritten) {
      receive = ({ written, slot }) => {
        const bytes = Buffer.from(written, "base64");
        const count = Math.floor(bytes.length / ADDRESS_BYTES);
        onWritten(
          Array.from({ length: count }, (_, i) => Address.from(bytes, i * ADDRESS_BYTES)),
          BigInt(slot),
        );
      };
      for (const message of early.splice(0)) receive(message);
    },
  };
}
