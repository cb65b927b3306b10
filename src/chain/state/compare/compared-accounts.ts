import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import type { FollowedAccount } from "../followed-account.ts";
import type { FollowedAccounts } from "../followed-accounts.ts";
import { AccountObservations } from "./account-observations.ts";

interface ComparedAccountsOptions {
  readonly followed: FollowedAccounts;
  /** True if the stream reports every change, not only the state at the end of a slot. */
  readonly isComplete: boolean;
  readonly now: Now;
  /** 0 ≤ result ≤ 1: when the next round comes. */
  readonly random: () => number;
  /** The account is out of use and settled, or followed no more. */
  readonly onForgotten: (observations: AccountObservations) => void;
}

/** How long an account is compared after a trade was built on it. Milliseconds. */
const IN_USE_MS = 10_000;
/** How often an account in use is compared. Milliseconds. */
const ROUND_MS = 700;
/**
 * The same with a stream that reports every change: the shortest time. A new one is drawn each time, because rounds in step with slots
 * would always miss the same slots. A stream of slots' ends is wrong only if two slots show it, for which rounds must not be too close.
 */
const LEAST_ROUND_MS = 150;
/** The same for an account about which the nodes do not agree. Milliseconds. */
const OPEN_ROUND_MS = 250;
/**
 * Every other round about an account for which the stream is doubted comes this much sooner: in step with slots it would miss the same
 * ones.
 */
const ROUND_SHIFT_MS = 100;
const ACCOUNTS_PER_CALL = 100;
/** Accounts out of use that are compared along with each call, in turn. */
const IDLE_PER_CALL = 20;
/** Accounts judged at a time, in turn: a few milliseconds of work, however many are open. */
const JUDGED_AT_ONCE = 1_000;

/** The accounts that are compared between the nodes, and when each is due: open ones sooner than those in use. */
export class ComparedAccounts {
  readonly #options: ComparedAccountsOptions;
  /** Accounts in use or not settled, least recently asked first. */
  readonly #tracked = new Map<FollowedAccount, AccountObservations>();
  readonly #open = new Set<AccountObservations>();
  readonly #contested = new Set<Address>();
  #idle: Iterator<FollowedAccount> | undefined;
  #roundMs = ROUND_MS;
  #rounds = 0;

  constructor(options: ComparedAccountsOptions) {
    this.#options = options;
  }

  /** Accounts that nothing may be built on now. */
  get contested(): ReadonlySet<Address> {
    return this.#contested;
  }

  /** How long the account in use that was compared longest ago has waited. Milliseconds. */
  oldestMs(): number {
    const first = this.#tracked.values().next().value;
    return first === undefined || first.askedAtMs < 0 ? 0 : this.#options.now() - first.askedAtMs;
  }

  /** Undefined for an account that is neither in use nor open. */
  get(entry: FollowedAccount): AccountObservations | undefined {
    return this.#tracked.get(entry);
  }

  /** A trade is about to be built on the account. */
  use(entry: FollowedAccount): void {
    let observations = this.#tracked.get(entry);
    if (observations === undefined) observations = this.#track(entry);
    observations.usedAtMs = this.#options.now();
  }

  /** Opens an account, in use or not. */
  open(entry: FollowedAccount): void {
    this.#open.add(this.#tracked.get(entry) ?? this.#track(entry));
  }

  /** Asked about more often until settled. */
  hold(observations: AccountObservations): void {
    if (!this.#tracked.has(observations.entry)) this.#tracked.set(observations.entry, observations);
    if (this.#tracked.get(observations.entry) === observations) this.#open.add(observations);
  }

  /** Nothing may be built on the account until it is settled. @returns false if it was contested already */
  contest(observations: AccountObservations): boolean {
    const { address } = observations.entry;
    this.hold(observations);
    if (this.#contested.has(address)) return false;
    this.#contested.add(address);
    return true;
  }

  settle(observations: AccountObservations): void {
    observations.settle();
    this.#open.delete(observations);
    this.#contested.delete(observations.entry.address);
  }

  /** The open ones that were judged longest ago. */
  nextOpen(): readonly AccountObservations[] {
    if (this.#open.size <= JUDGED_AT_ONCE) return [...this.#open];
    const next: AccountObservations[] = [];
    for (const observations of this.#open) {
      if (next.push(observations) === JUDGED_AT_ONCE) break;
    }
    for (const observations of next) {
      this.#open.delete(observations);
      this.#open.add(observations);
    }
    return next;
  }

  /** Up to one call's worth of accounts to ask about now. */
  due(): readonly AccountObservations[] {
    const { followed, now } = this.#options;
    const atMs = now();
    const due: AccountObservations[] = [];
    for (const observations of this.#open) {
      if (due.length === ACCOUNTS_PER_CALL) return due;
      if (!followed.has(observations.entry) || this.#isForgettable(observations, atMs)) this.#forget(observations);
      else if (observations.askedAtMs <= atMs - this.#openRoundMs(observations)) due.push(observations);
    }
    const open = new Set(due);
    const first = this.#tracked.values().next().value;
    // Once one is due, those due soon come along: fewer calls for the same accounts.
    const isAnyDue = due.length > 0 || (first !== undefined && first.askedAtMs <= atMs - this.#roundMs);
    if (!isAnyDue) return due;
    for (const observations of this.#tracked.values()) {
      if (due.length === ACCOUNTS_PER_CALL || observations.askedAtMs > atMs - this.#roundMs / 2) break;
      if (open.has(observations) || this.#open.has(observations)) continue;
      if (!followed.has(observations.entry) || observations.usedAtMs < atMs - IN_USE_MS) this.#forget(observations);
      else due.push(observations);
    }
    if (due.length > 0) this.#addIdle(due);
    return due;
  }

  /** Marks due accounts as asked. @returns those in use or open */
  beginRound(batch: readonly AccountObservations[]): readonly AccountObservations[] {
    const { now, random, isComplete } = this.#options;
    const askedAtMs = now();
    const tracked = batch.filter((observations) => {
      observations.askedAtMs = askedAtMs;
      if (observations.openSinceMs !== undefined) observations.openRounds += 1;
      // To the end of the line.
      if (!this.#tracked.delete(observations.entry)) return false;
      this.#tracked.set(observations.entry, observations);
      return true;
    });
    this.#roundMs = isComplete ? LEAST_ROUND_MS + random() * (ROUND_MS - LEAST_ROUND_MS) : ROUND_MS;
    this.#rounds += 1;
    return tracked;
  }

  clear(): void {
    this.#tracked.clear();
    this.#open.clear();
    this.#contested.clear();
  }

  /** A new account goes first. */
  #track(entry: FollowedAccount): AccountObservations {
    const observations = new AccountObservations(entry, this.#options.isComplete);
    this.#tracked.set(entry, observations);
    // Judged, and then asked about, at the next tick.
    this.#open.add(observations);
    return observations;
  }

  /** True for an account long out of use that no node contradicts. One that was opened while no trade used it is asked about first. */
  #isForgettable({ entry, askedAtMs, usedAtMs, openSinceMs }: AccountObservations, atMs: number): boolean {
    if (askedAtMs < 0 && usedAtMs < 0) return false;
    if (this.#contested.has(entry.address) || usedAtMs >= atMs - IN_USE_MS) return false;
    return openSinceMs === undefined || openSinceMs < atMs - IN_USE_MS;
  }

  #forget(observations: AccountObservations): void {
    this.#tracked.delete(observations.entry);
    this.#open.delete(observations);
    this.#contested.delete(observations.entry.address);
    this.#options.onForgotten(observations);
  }

  #openRoundMs({ entry }: AccountObservations): number {
    const isShifted = this.#options.isComplete && entry.isDoubted && this.#rounds % 2 === 0;
    return isShifted ? OPEN_ROUND_MS - ROUND_SHIFT_MS : OPEN_ROUND_MS;
  }

  /** Accounts that no trade uses now are compared too, a few with each call: the next trade may be built on them. */
  #addIdle(due: AccountObservations[]): void {
    const { followed } = this.#options;
    const room = Math.min(IDLE_PER_CALL, ACCOUNTS_PER_CALL - due.length);
    this.#idle ??= followed.values()[Symbol.iterator]();
    for (let i = 0; i < room; i++) {
      const { value: entry, done } = this.#idle.next();
      if (done === true) {
        this.#idle = undefined;
        return;
      }
      if (!this.#tracked.has(entry)) due.push(new AccountObservations(entry, this.#options.isComplete));
    }
  }
}
