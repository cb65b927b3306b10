import type { Address } from "../../../primitives/address.ts";
import { inSol } from "../message-checks.ts";
import { isTokenAccountRent } from "../rent.ts";

/**
 * The temporary wrapped-SOL account of a trade, as the instructions are read: either opened under a seed, with its rent and what
 * may be spent, or the wallet's associated account, which is created with its rent and which a transfer funds.
 */
export class TemporaryAccount {
  readonly address: Address;
  readonly isAssociated: boolean;
  /** What it was opened and funded with; rent is a part of it unless it is the associated account. */
  #lamports: bigint;
  #isInitialized: boolean;
  #isClosed = false;
  #isUsed = false;
  /** True if the first swap that uses it pays into it: what arrives wrapped pays for what leaves after it. */
  #isFed = false;
  /** What swaps take from it: by their bounds, and at most. Lamports. */
  #bound = 0n;
  #most = 0n;

  private constructor(address: Address, lamports: bigint, isAssociated: boolean) {
    this.address = address;
    this.isAssociated = isAssociated;
    this.#lamports = lamports;
    this.#isInitialized = isAssociated;
  }

  static withSeed(address: Address, lamports: bigint): TemporaryAccount {
    return new TemporaryAccount(address, lamports, false);
  }

  static associated(address: Address): TemporaryAccount {
    return new TemporaryAccount(address, 0n, true);
  }

  get lamports(): bigint {
    return this.#lamports;
  }

  get isOpen(): boolean {
    return this.#isInitialized && !this.#isClosed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** @returns false if it takes no funds: opened under a seed it has them already, and later than the first swap they buy nothing */
  fund(lamports: bigint): boolean {
    if (!this.isAssociated || this.#isUsed || this.#isClosed) return false;
    this.#lamports += lamports;
    return true;
  }

  initialize(): void {
    this.#isInitialized = true;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** A swap pays into it. */
  receive(): void {
    if (!this.#isUsed) this.#isFed = true;
    this.#isUsed = true;
  }

  /**
   * A swap takes from it.
   * @param bound as its instruction allows. Lamports
   * @param most as slippage allows. Lamports
   */
  spend(bound: bigint, most: bigint): void {
    this.#isUsed = true;
    if (this.#isFed) return;
    this.#bound += bound;
    this.#most += most;
  }

  /** What is wrong with the funds of an account that is used: they are exactly what swaps may take, plus its own rent. */
  fundingFault(): string | undefined {
    if (!this.#isUsed) return undefined;
    const fits = (rent: bigint) => (this.isAssociated ? rent === 0n : isTokenAccountRent(rent));
    if ([this.#bound, this.#most].some((most) => fits(this.#lamports - most))) return undefined;
    return `the temporary wrapped-SOL account receives ${inSol(this.#lamports)} SOL, but needs ${inSol(this.#bound)} SOL${this.isAssociated ? "" : " and its rent"}`;
  }
}
