import type { Address } from "../primitives/address.ts";

/** Receives accounts that a landed transaction has written, and its slot. */
export type OnWritten = (accounts: readonly Address[], slot: bigint) => void;

/** The other processes of this machine that share the service's port. A trade may be built in one and followed to its end in another. */
export interface OtherWorkers {
  /** Tells each of them. One that cannot receive it is left out. */
  tellWritten: OnWritten;
  /** Receives what any of them tells from now on, and has told since this process started. */
  listen(onWritten: OnWritten): void;
}
