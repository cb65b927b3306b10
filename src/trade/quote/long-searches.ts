import type { SearchCaller } from "../../market/port.ts";

/** Searches at once that wait for their turn or run; trades beyond them go without. */
const MOST_AT_ONCE = 32;
/** Keys and addresses whose last turns are remembered. */
const MOST_REMEMBERED = 1_024;

/** A search in steps: yields after each, so that other work may run. */
export type Steps<T> = Generator<undefined, T>;

/** A search that waits for its turn or runs. */
interface Ticket {
  /** Its owners: the key and the address, as far as known. */
  readonly owners: readonly string[];
  /** Number of the turn in which it arrived. */
  readonly since: number;
  readonly run: () => Promise<unknown>;
  /** Ends it without a search. */
  readonly drop: () => void;
}

interface LongSearchesOptions {
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  /** The network of an address, which counts as one caller. */
  readonly networkOf?: (address: string) => string;
}

/**
 * Runs searches that are too long for one turn of the event loop. A search that ends with its first step ends at once. Any other starts
 * again when its turn comes, one after another, with a pause after each step: of many equal trades the first one searches, and the others
 * use its result. Next is the search whose key and address have waited longest since their last turn. If all places are taken, a caller
 * with fewer of them takes one from the caller with most: many searches of one hold up only their own.
 */
export class LongSearches {
  readonly #pause: () => Promise<void>;
  readonly #networkOf: (address: string) => string;
  /** In order of arrival. */
  readonly #waiting: Ticket[] = [];
  /** By owner: searches that wait or run, and the number of the last turn. */
  readonly #held = new Map<string, number>();
  readonly #lastTurns = new Map<string, number>();
  #turn = 0;
  #count = 0;
  #isRunning = false;

  constructor({ pause, networkOf = (address) => address }: LongSearchesOptions) {
    this.#pause = pause;
    this.#networkOf = networkOf;
  }

  /**
   * @param start begins the search on the newest state; `isAllowed` is false if too many wait: it must end with its first step then
   * @param caller the owner of the search; absent: no owner, and only the limit for all applies
   * @throws what the search throws
   */
  run<T>(start: (isAllowed: boolean) => Steps<T>, caller?: SearchCaller): T | Promise<T> {
    const owners = this.#ownersOf(caller);
    const dropped = this.#count < MOST_AT_ONCE ? undefined : this.#crowding(owners);
    const first = start(this.#count < MOST_AT_ONCE || dropped !== undefined).next();
    if (first.done === true) return first.value;
    if (dropped !== undefined) this.#drop(dropped);
    this.#count++;
    for (const owner of owners) this.#held.set(owner, this.#heldBy(owner) + 1);
    const result = new Promise<T>((resolve, reject) => {
      // `start` reads the newest state and may throw too: that ends this search, and the next one runs.
      const run = () => this.#inSteps(() => start(true)).then(resolve, reject);
      const drop = () => {
        try {
          resolve(withoutSearch(start(false)));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ owners, since: this.#turn, run, drop });
    });
    if (!this.#isRunning) {
      this.#isRunning = true;
      queueMicrotask(() => void this.#runAll());
    }
    return result;
  }

  /** The last search of the caller that holds most places, if that is more than a newcomer would hold. */
  #crowding(newcomer: readonly string[]): Ticket | undefined {
    let most = Math.max(0, ...newcomer.map((owner) => this.#heldBy(owner))) + 1;
    let crowding: Ticket | undefined;
    for (const ticket of this.#waiting.toReversed()) {
      const held = Math.max(0, ...ticket.owners.map((owner) => this.#heldBy(owner)));
      if (held <= most) continue;
      most = held;
      crowding = ticket;
    }
    return crowding;
  }

  #drop(ticket: Ticket): void {
    this.#waiting.splice(this.#waiting.indexOf(ticket), 1);
    this.#end(ticket);
    ticket.drop();
  }

  #heldBy(owner: string): number {
    return this.#held.get(owner) ?? 0;
  }

  #ownersOf(caller: SearchCaller | undefined): readonly string[] {
    if (caller === undefined) return [];
    const address = `address ${this.#networkOf(caller.peer)}`;
    return caller.principal === undefined ? [address] : [address, `key ${caller.principal.keyId}`];
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const [ticket] = this.#waiting.splice(this.#next(), 1);
      await ticket!.run();
      this.#end(ticket!);
    }
    this.#isRunning = false;
  }

  /**
   * The place of the ticket whose owners had their last turns longest ago. Waiting time is capped at the number of places before the
   * arrival: otherwise a stream of callers that never had a turn would keep all others from theirs.
   */
  #next(): number {
    const lastTurnOf = ({ owners, since }: Ticket) =>
      Math.max(since - MOST_AT_ONCE, ...owners.map((owner) => this.#lastTurns.get(owner) ?? since - MOST_AT_ONCE));
    const turns = this.#waiting.map(lastTurnOf);
    const next = turns.indexOf(Math.min(...turns));
    if (this.#lastTurns.size > MOST_REMEMBERED) this.#lastTurns.clear();
    this.#turn++;
    for (const owner of this.#waiting[next]!.owners) this.#lastTurns.set(owner, this.#turn);
    return next;
  }

  #end({ owners }: Ticket): void {
    this.#count--;
    for (const owner of owners) {
      const held = this.#heldBy(owner) - 1;
      if (held === 0) this.#held.delete(owner);
      else this.#held.set(owner, held);
    }
  }

  async #inSteps<T>(start: () => Steps<T>): Promise<T> {
    const steps = start();
    for (;;) {
      await this.#pause();
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }
}

/** What a search that is not allowed ends with. */
function withoutSearch<T>(steps: Steps<T>): T {
  const { done, value } = steps.next();
  if (done !== true) throw new Error("a search that is not allowed goes on");
  return value;
}

/** The search with its pauses; if none is allowed it ends at the first one, and finds nothing. */
export function* pausing<T>(steps: Steps<T>, isAllowed: boolean): Steps<T | undefined> {
  if (isAllowed) return yield* steps;
  const { done, value } = steps.next();
  return done === true ? value : undefined;
}

/** All steps of a search at once. */
export function allAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
