import { TradewireError } from "../errors/tradewire-error.ts";

const RETRY_AFTER_MS = 1_000;

/** The streams held open, of which one API key may have so many: each costs looks at the database for as long as it lasts. */
export class StreamPlaces {
  readonly #byKey = new Map<string, number>();
  readonly #maxPerKey: number;

  /** @param maxPerKey 0: any number */
  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey;
  }

  /** Holds a place; `free` must follow. @throws TradewireError RATE_LIMIT_EXCEEDED; then none is held */
  take(keyId: string): void {
    const held = this.#byKey.get(keyId) ?? 0;
    if (this.#maxPerKey > 0 && held >= this.#maxPerKey) {
      throw new TradewireError(
        "RATE_LIMIT_EXCEEDED",
        `This API key has ${held} streams open, the most it may have. End one, or ask for the trade without a stream.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#byKey.set(keyId, held + 1);
  }

  free(keyId: string): void {
    const held = this.#byKey.get(keyId)!;
    if (held === 1) this.#byKey.delete(keyId);
    else this.#byKey.set(keyId, held - 1);
  }
}
