import { TradewireError } from "../../errors/tradewire-error.ts";

const RETRY_AFTER_MS = 1_000;

/** The streams held open, of which one holder may have so many: each costs memory and time for as long as it lasts. */
export class StreamPlaces {
  readonly #byHolder = new Map<string, number>();
  readonly #max: number;
  readonly #holder: string;

  /**
   * @param max 0: any number
   * @param holder what a refusal calls whoever holds them
   */
  constructor(max: number, holder: "API key" | "address") {
    this.#max = max;
    this.#holder = holder;
  }

  /** Holds a place; `free` must follow. @throws TradewireError RATE_LIMIT_EXCEEDED; then none is held */
  take(name: string): void {
    const held = this.#byHolder.get(name) ?? 0;
    if (this.#max > 0 && held >= this.#max) {
      throw new TradewireError(
        "RATE_LIMIT_EXCEEDED",
        `This ${this.#holder} has ${held} streams open, the most it may have. End one, or ask without a stream.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#byHolder.set(name, held + 1);
  }

  free(name: string): void {
    const held = this.#byHolder.get(name)!;
    if (held === 1) this.#byHolder.delete(name);
    else this.#byHolder.set(name, held - 1);
  }
}
