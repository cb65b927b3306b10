import type { TLSSocket } from "node:tls";
import { stopReading } from "../flow/hold-reading.ts";

/** Secrets of one connection: five of its handshake, then one for each renewal. Honest clients renew theirs after gigabytes, if ever. */
const MOST_SECRETS = 16;

/**
 * Closes TLS connections that renew their keys again and again. A renewal has 27 bytes and takes 10 µs or, if it asks for the server's
 * too, more, and it belongs to no request: one read has room for 2,400.
 */
export class KeyUpdates {
  readonly #secrets = new WeakMap<TLSSocket, number>();

  /** Counts a secret that a connection has agreed on. To be called from within the renewal, where nothing of it may be torn down. */
  readonly count = (socket: TLSSocket): void => {
    const secrets = (this.#secrets.get(socket) ?? 0) + 1;
    this.#secrets.set(socket, secrets);
    if (secrets !== MOST_SECRETS + 1) return;
    stopReading(socket);
    setImmediate(() => socket.destroy());
  };
}
