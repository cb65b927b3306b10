import type { Socket } from "node:net";
import { networkOf } from "./network-of.ts";

/** The open connections, bounded per address: a flood from one address leaves room for others. */
export class ConnectionPlaces {
  readonly sockets: ReadonlySet<Socket>;
  readonly #sockets = new Set<Socket>();
  readonly #byNetwork = new Map<string, number>();
  readonly #maxPerAddress: number;
  readonly #isProxy: (address: string | undefined) => boolean;

  /**
   * @param maxPerAddress connections per address (IPv6: per /64 network); 0 for any number
   * @param isProxy true of an address that many callers share: its connections are not counted by address
   */
  constructor(maxPerAddress: number, isProxy: (address: string | undefined) => boolean) {
    this.sockets = this.#sockets;
    this.#maxPerAddress = maxPerAddress;
    this.#isProxy = isProxy;
  }

  /** Counts a connection until it closes. Destroys it and returns false if its address has too many. */
  take(socket: Socket): boolean {
    if (this.#maxPerAddress > 0 && !this.#isProxy(socket.remoteAddress)) {
      const { remoteAddress } = socket;
      const network = remoteAddress === undefined ? undefined : networkOf(remoteAddress);
      const held = network === undefined ? 0 : (this.#byNetwork.get(network) ?? 0);
      // A socket without an address is closed already.
      if (network === undefined || held >= this.#maxPerAddress) {
        socket.destroy();
        return false;
      }
      this.#byNetwork.set(network, held + 1);
      socket.once("close", () => this.#free(network));
    }
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    return true;
  }

  #free(network: string): void {
    const held = this.#byNetwork.get(network)!;
    if (held === 1) this.#byNetwork.delete(network);
    else this.#byNetwork.set(network, held - 1);
  }
}
