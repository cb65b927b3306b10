/** Network key for an address that many callers share, such as a proxy's: it may have all places. */
export const SHARED = "shared";
/** A connection may take this part of the places that are left. */
const SHARES = 32;

/**
 * Counts the open HTTP/2 streams of all connections. Each costs memory while it lasts, and a client that reads nothing keeps
 * it open for as long as it is allowed to, so they are bounded in all; one address (IPv6: one /64 network) gets half at most.
 */
export class OpenStreams {
  readonly #max: number;
  readonly #maxPerNetwork: number;
  /** Counts are objects: replacing a number in the table for each stream would take two look-ups. */
  readonly #byNetwork = new Map<string, { held: number }>();
  #open = 0;

  /** @param max streams in all; 0 for any number */
  constructor(max: number) {
    this.#max = max === 0 ? Number.POSITIVE_INFINITY : max;
    this.#maxPerNetwork = Math.ceil(this.#max / 2);
  }

  /** Open streams now. */
  get count(): number {
    return this.#open;
  }

  /** Streams that a connection may have open at once now: the fewer, the fewer places are left. From 1 to `most`. */
  share(most: number): number {
    return Math.max(1, Math.min(most, Math.floor((this.#max - this.#open) / SHARES)));
  }

  /** Takes a place; `free` must follow if it returns true. False if there is none left for this network. */
  take(network: string): boolean {
    const known = this.#byNetwork.get(network);
    if (this.#open >= this.#max || (network !== SHARED && (known?.held ?? 0) >= this.#maxPerNetwork)) return false;
    this.#open++;
    if (known === undefined) this.#byNetwork.set(network, { held: 1 });
    else known.held++;
    return true;
  }

  /** Gives a place back. */
  free(network: string): void {
    this.#open--;
    const known = this.#byNetwork.get(network)!;
    if (--known.held === 0) this.#byNetwork.delete(network);
  }
}
