import { TradewireError } from "../../errors/tradewire-error.ts";

const RETRY_AFTER_MS = 1_000;

/** Bounds the open streams of each API key or address: every stream costs memory and time while it lasts. */
export class StreamPlaces {
  readonly #byHolder = new Map<string, number>();
  readonly #max: number;
  readonly #holder: string;

  /**
   * @param max streams per holder; 0 for any number
   * @param holder what holds them, for the message of a refusal
   */
  constructor(max: number, holder: "API key" | "address") {
    this.#max = max;
    this.#holder = holder;
  }

  /** Takes a place; `free` must follow, unless this throws. @throws TradewireError RATE_LIMIT_EXCEEDED */
  take(name: string): void {
    const held = this.#byHolder.get(name) ?? 0;
    if (this.#max > 0 && held >= this.#max) {
      throw new TradewireError(
        "RATE_LIMIT_EXCEEDED",
        `This ${this.#holder} has ${held} streams open, which is the limit. Close one, or poll instead.`,
        { retryAfterMs: RETRY_AFTER_MS },
      );
    }
    this.#byHolder.set(name, held + 1);
  }

  /** Gives a place back. */
  free(name: string): void {
    const held = this.#byHolder.get(name)!;
    if (held === 1) this.#byHolder.delete(name);
    else this.#byHolder.set(name, held - 1);
  }
}
