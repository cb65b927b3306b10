import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Now } from "../../primitives/clock.ts";
import type { SearchCaller } from "../port.ts";
import { FairQueue } from "./fair-queue.ts";
import { Paces } from "./paces.ts";

/** Limits of cold searches: the rate of each key, each address and all together, how many run at once, and how long one may wait. */
export interface SearchBudget {
  /** Searches a second; 0: any number. */
  readonly perKey: number;
  readonly perAddress: number;
  readonly perSecond: number;
  /** Seconds' worth of searches that may come at once. */
  readonly burstSeconds: number;
  /** Searches in flight; one address gets half of them. */
  readonly atOnce: number;
  /** Longest wait of a caller for a turn. Milliseconds. */
  readonly waitMs: number;
}

export const DEFAULT_SEARCH_BUDGET: SearchBudget = {
  perKey: 2,
  perAddress: 4,
  perSecond: 10,
  burstSeconds: 60,
  atOnce: 8,
  waitMs: 2_000,
};

/** One caller's wait for a turn. */
interface Ticket {
  readonly key: string;
  readonly address: string;
  readonly answer: PromiseWithResolvers<(() => void) | undefined>;
  readonly deadline: NodeJS.Timeout | undefined;
  /** Settled by something other than its turn. */
  isOver: boolean;
}

interface SearchTurnsOptions {
  readonly budget: SearchBudget;
  readonly now: Now;
  /** The network of an address, which shares its budget. */
  readonly networkOf: (address: string) => string;
  /** The noun in refusals: what the caller asks for too often. */
  readonly subject?: string;
}

const DEFAULT_SUBJECT = "tokens that are not in memory yet";

/** Callers that wait in all; more are refused as overload. */
const MAX_WAITING = 1_000;
const ALL = "all";

/**
 * Cold searches take turns: address after address and, within one, key after key, each within its budget. A search that cannot have its
 * turn in time is refused at once if the caller's own budget is the reason, else when its time is up.
 */
export class SearchTurns {
  readonly #budget: SearchBudget;
  readonly #now: Now;
  readonly #networkOf: (address: string) => string;
  readonly #subject: string;
  readonly #queue = new FairQueue<Ticket>();
  readonly #keys: Paces;
  readonly #addresses: Paces;
  readonly #all: Paces;
  readonly #running = new Map<string, number>();
  #runningInAll = 0;
  #wake: NodeJS.Timeout | undefined;
  #refused = 0;

  constructor({ budget, now, networkOf, subject = DEFAULT_SUBJECT }: SearchTurnsOptions) {
    const { perKey, perAddress, perSecond, burstSeconds } = budget;
    this.#budget = budget;
    this.#now = now;
    this.#networkOf = networkOf;
    this.#subject = subject;
    this.#keys = new Paces(perKey, burstSeconds);
    this.#addresses = new Paces(perAddress, burstSeconds);
    this.#all = new Paces(perSecond, burstSeconds);
  }

  /** For metrics: searches in flight, callers that wait, and callers refused so far. */
  state(): { readonly running: number; readonly waiting: number; readonly refused: number } {
    return { running: this.#runningInAll, waiting: this.#queue.size, refused: this.#refused };
  }

  /**
   * Waits for the caller's turn; without a caller, for as long as it takes.
   *
   * @param moot resolves if the turn is no longer needed
   * @returns how to end the turn, which must follow; undefined if `moot` came first
   * @throws TradewireError RATE_LIMIT_EXCEEDED if the caller's budget is used up, OVERLOADED if everybody's is
   */
  next(caller: SearchCaller | undefined, moot: Promise<void>): Promise<(() => void) | undefined> {
    const key = caller?.principal?.keyId ?? "";
    const address = caller === undefined ? "" : this.#networkOf(caller.peer);
    if (caller !== undefined) this.#refuseIfLate(key, address);
    const answer = Promise.withResolvers<(() => void) | undefined>();
    const { waitMs } = this.#budget;
    const deadline = caller === undefined ? undefined : setTimeout(() => this.#giveUp(ticket), waitMs);
    const ticket: Ticket = { key, address, answer, deadline, isOver: false };
    moot.then(() => this.#end(ticket, () => answer.resolve(undefined)));
    this.#queue.push(address, key, ticket);
    this.#serve();
    return answer.promise;
  }

  close(): void {
    clearTimeout(this.#wake);
    for (const ticket of this.#queue.clear()) {
      this.#end(ticket, () => ticket.answer.reject(this.#overloaded()));
    }
  }

  #refuseIfLate(key: string, address: string): void {
    const ahead = { ofKey: this.#queue.waitingOf(address, key), ofAddress: this.#queue.waitingAt(address) };
    const refusal = this.#overBudget(key, address, ahead, this.#budget.waitMs);
    if (refusal === undefined && this.#queue.size < MAX_WAITING) return;
    this.#refused += 1;
    throw refusal ?? this.#overloaded();
  }

  /** The refusal of a caller whose own budget lets it search only later than `mostMs` from now. */
  #overBudget(
    key: string,
    address: string,
    ahead: { readonly ofKey: number; readonly ofAddress: number },
    mostMs: number,
  ): TradewireError | undefined {
    const atMs = this.#now();
    const ofKey = this.#keys.waitMs(key, atMs, ahead.ofKey);
    const ofAddress = this.#addresses.waitMs(address, atMs, ahead.ofAddress);
    const retryAfterMs = Math.ceil(Math.max(ofKey, ofAddress));
    if (retryAfterMs <= mostMs) return undefined;
    return new TradewireError(
      "RATE_LIMIT_EXCEEDED",
      `Too many ${this.#subject} were asked for with this ${ofKey >= ofAddress ? "API key" : "address"}. Retry after the time in Retry-After.`,
      { retryAfterMs },
    );
  }

  /** Gives turns to as many as may have one now. */
  #serve(): void {
    clearTimeout(this.#wake);
    const atMs = this.#now();
    while (this.#queue.size > 0) {
      if (this.#runningInAll >= this.#budget.atOnce) return;
      const allMs = this.#all.waitMs(ALL, atMs);
      if (allMs > 0) {
        this.#wakeAfter(allMs);
        return;
      }
      let soonestMs = Number.POSITIVE_INFINITY;
      const ticket = this.#queue.take((address, key) => {
        if (this.#isFull(address)) return false;
        const waitMs = key === "" ? 0 : Math.max(this.#keys.waitMs(key, atMs), this.#addresses.waitMs(address, atMs));
        soonestMs = Math.min(soonestMs, waitMs);
        return waitMs === 0;
      });
      if (ticket === undefined) {
        if (soonestMs !== Number.POSITIVE_INFINITY) this.#wakeAfter(soonestMs);
        return;
      }
      if (!ticket.isOver) this.#start(ticket, atMs);
    }
  }

  #start(ticket: Ticket, atMs: number): void {
    const { key, address } = ticket;
    this.#all.take(ALL, atMs);
    if (key !== "") {
      this.#keys.take(key, atMs);
      this.#addresses.take(address, atMs);
    }
    this.#runningInAll += 1;
    this.#running.set(address, (this.#running.get(address) ?? 0) + 1);
    let isRunning = true;
    const end = () => {
      if (!isRunning) return;
      isRunning = false;
      this.#runningInAll -= 1;
      const left = this.#running.get(address)! - 1;
      if (left === 0) this.#running.delete(address);
      else this.#running.set(address, left);
      this.#serve();
    };
    this.#end(ticket, () => ticket.answer.resolve(end));
  }

  #isFull(address: string): boolean {
    return (this.#running.get(address) ?? 0) >= Math.max(1, this.#budget.atOnce >> 1);
  }

  #wakeAfter(ms: number): void {
    this.#wake = setTimeout(() => this.#serve(), Math.ceil(ms));
  }

  #giveUp(ticket: Ticket): void {
    // Its turn may have come at this very moment.
    this.#serve();
    if (ticket.isOver) return;
    this.#refused += 1;
    const { key, address } = ticket;
    const refusal = this.#overBudget(key, address, { ofKey: 0, ofAddress: 0 }, 0) ?? this.#overloaded();
    this.#end(ticket, () => ticket.answer.reject(refusal));
  }

  #end(ticket: Ticket, settle: () => void): void {
    if (ticket.isOver) return;
    ticket.isOver = true;
    clearTimeout(ticket.deadline);
    this.#queue.remove(ticket.address, ticket.key, ticket);
    settle();
  }

  #overloaded(): TradewireError {
    return new TradewireError(
      "OVERLOADED",
      `Too many ${this.#subject} are being asked for. Retry after the time in Retry-After.`,
      { retryAfterMs: 1_000 },
    );
  }
}
