import type { Address } from "../../../primitives/address.ts";
import { hasVersionOf, keepVersions } from "../account-versions.ts";
import type { FollowedAccount } from "../followed-account.ts";

/** A replaced bank, and the accounts that have not applied the replacement. */
interface ReplacedBank {
  readonly slot: bigint;
  /** The accounts whose changes its stream reports. */
  readonly addresses: ReadonlySet<Address>;
  /** Number of the replacement, counted from the first; higher if the bank is replaced again. */
  number: number;
  /** The accounts with a version in its slot, and how many of them, from the first, remain. */
  touched: readonly FollowedAccount[];
  left: number;
  /** Accounts to walk over after these, because the bank was replaced again meanwhile. */
  next: readonly FollowedAccount[] | undefined;
}

/**
 * Replaced banks. A replacement takes effect for every account at once, however many had changed: each applies it before anything is added
 * to it, the others in the next turns of the loop.
 */
export class ReplacedBanks {
  readonly #perTurn: number;
  readonly #onRemoved: (entry: FollowedAccount) => void;
  readonly #pending: ReplacedBank[] = [];
  #count = 0;
  #next: NodeJS.Immediate | undefined;

  /**
   * @param perTurn accounts that apply replacements in one turn of the loop
   * @param onRemoved called with an account that has lost a version
   */
  constructor(perTurn: number, onRemoved: (entry: FollowedAccount) => void) {
    this.#perTurn = perTurn;
    this.#onRemoved = onRemoved;
  }

  /** @param touched the accounts with a version in the slot; later additions to the list are ignored */
  add(slot: bigint, addresses: ReadonlySet<Address>, touched: readonly FollowedAccount[]): void {
    this.#count += 1;
    const number = this.#count;
    const known = this.#pending.find((one) => one.slot === slot && one.addresses === addresses);
    // An account that has not applied the first replacement loses both banks' versions with the second.
    if (known !== undefined) Object.assign(known, { number, next: touched });
    else this.#pending.push({ slot, addresses, number, touched, left: touched.length, next: undefined });
    if (this.#next === undefined) this.#turn();
  }

  /** Drops the versions that the account has of replaced banks. To be called before any is added. */
  takeIn(entry: FollowedAccount): void {
    const taken = entry.replacementsTaken;
    if (taken === this.#count) return;
    entry.replacementsTaken = this.#count;
    let isRemoved = false;
    for (const { slot, addresses, number } of this.#pending) {
      if (number <= taken || !hasVersionOf(entry, slot) || !addresses.has(entry.address)) continue;
      keepVersions(entry, (version) => version.slot !== slot);
      isRemoved = true;
    }
    if (isRemoved) this.#onRemoved(entry);
  }

  clear(): void {
    clearImmediate(this.#next);
    this.#next = undefined;
    this.#pending.length = 0;
  }

  readonly #turn = (): void => {
    this.#next = undefined;
    for (let left = this.#perTurn; left > 0; left--) {
      const bank = this.#unfinished();
      if (bank === undefined) return;
      bank.left -= 1;
      this.takeIn(bank.touched[bank.left]!);
    }
    if (this.#unfinished() !== undefined) this.#next = setImmediate(this.#turn);
  };

  /** The first bank whose replacement some accounts have not applied; banks that all have applied are forgotten. */
  #unfinished(): ReplacedBank | undefined {
    for (let bank = this.#pending[0]; bank !== undefined; bank = this.#pending[0]) {
      if (bank.left > 0) return bank;
      if (bank.next === undefined) this.#pending.shift();
      else {
        bank.touched = bank.next;
        bank.left = bank.next.length;
        bank.next = undefined;
      }
    }
    return undefined;
  }
}
