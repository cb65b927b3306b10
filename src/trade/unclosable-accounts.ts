import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";

/** How long such an account is left open. Milliseconds. */
const KEPT_MS = 3_600_000;
const MOST_KEPT = 4_096;

/**
 * Token accounts that a sale could not close because somebody had sent tokens into them before it landed. The sender can do it again and
 * make every sale fail that closes the account. Known to this process alone.
 */
export class UnclosableAccounts {
  readonly #monotonicMs: Now;
  /** Until when each is left open (monotonic milliseconds), oldest first. */
  readonly #until = new Map<Address, number>();

  constructor(monotonicMs: Now) {
    this.#monotonicMs = monotonicMs;
  }

  /** Notes an account that could not be closed now. */
  note(account: Address): void {
    this.#until.delete(account);
    if (this.#until.size >= MOST_KEPT) this.#until.delete(this.#until.keys().next().value!);
    this.#until.set(account, this.#monotonicMs() + KEPT_MS);
  }

  /** True if a sale should leave the account open. */
  has(account: Address): boolean {
    const until = this.#until.get(account);
    return until !== undefined && until > this.#monotonicMs();
  }
}
