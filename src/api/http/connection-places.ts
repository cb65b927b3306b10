import type { Socket } from "node:net";
import { networkOf } from "./network-of.ts";

/** The connections a server holds, of which one address may have so many: a flood out of one place leaves room for others. */
export class ConnectionPlaces {
  readonly sockets: ReadonlySet<Socket>;
  readonly #sockets = new Set<Socket>();
  readonly #byNetwork = new Map<string, number>();
  readonly #maxPerAddress: number;

  /** @param maxPerAddress 0: any number */
  constructor(maxPerAddress: number) {
    this.sockets = this.#sockets;
    this.#maxPerAddress = maxPerAddress;
  }

  /** Holds a new connection until it closes. Cuts it off, and says so by false, where its address has too many. */
  take(socket: Socket): boolean {
    if (this.#maxPerAddress > 0) {
      const { remoteAddress } = socket;
      const network = remoteAddress === undefined ? undefined : networkOf(remoteAddress);
      const held = network === undefined ? 0 : (this.#byNetwork.get(network) ?? 0);
      // One without an address has gone already.
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
