import type { KnownAccount } from "../../../chain/port.ts";
import type { Address } from "../../../primitives/address.ts";
import { FairQueue } from "../fair-queue.ts";
import { Paces } from "../paces.ts";
import { halvesOf, isOfOneAddress, type OfCaller } from "./split-batch.ts";

/** A mint that a caller asks for. */
export interface MintQuestion extends OfCaller {
  readonly mint: Address;
  readonly answer: PromiseWithResolvers<KnownAccount>;
}

/** Mints read in one call. */
const PER_CALL = 100;
/** Sustained calls per second, however many mints are asked for; and the burst, in seconds' worth of calls. */
const CALLS_PER_SECOND = 50;
/** Of these, for one address; addresses that share a call share its cost. */
const CALLS_PER_SECOND_OF_ADDRESS = 12;
const BURST_SECONDS = 1;
const ALL = "all";
/** The address of questions that no caller waits for. */
const NOBODY = "";

/**
 * Questions that wait for a call. Addresses take turns for its places, and keys within each address; an address that has used up its calls
 * waits and takes no place in others' calls. Parts of a call whose answer was too large come again: those of several addresses before
 * everything else, those of one address in turn with new questions.
 */
export class MintQuestions {
  readonly #new = new FairQueue<MintQuestion>();
  readonly #shared: (readonly MintQuestion[])[] = [];
  readonly #own = new FairQueue<readonly MintQuestion[]>();
  #isOwnNext = false;
  readonly #all = new Paces(CALLS_PER_SECOND, BURST_SECONDS);
  readonly #addresses = new Paces(CALLS_PER_SECOND_OF_ADDRESS, BURST_SECONDS);

  push(question: MintQuestion): void {
    this.#new.push(question.address, question.key, question);
  }

  /** Removes a question that is in no call yet. */
  remove(question: MintQuestion): void {
    this.#new.remove(question.address, question.key, question);
  }

  /** Asks the questions of a call whose answer was too large again, in two calls. */
  divide(questions: readonly MintQuestion[]): void {
    for (const half of halvesOf(questions)) {
      if (isOfOneAddress(half)) this.#own.push(half[0]!.address, "", half);
      else this.#shared.push(half);
    }
  }

  /** The questions of the next call, which is counted; or how long no call may be made (milliseconds), undefined if no question waits. */
  next(atMs: number): readonly MintQuestion[] | number | undefined {
    if (this.#new.size + this.#shared.length + this.#own.size === 0) return undefined;
    const waitMs = this.#all.waitMs(ALL, atMs);
    if (waitMs > 0) return waitMs;
    let soonestMs = Number.POSITIVE_INFINITY;
    const mayHaveTurn = (address: string): boolean => {
      const ofAddressMs = address === NOBODY ? 0 : this.#addresses.waitMs(address, atMs);
      soonestMs = Math.min(soonestMs, ofAddressMs);
      return ofAddressMs === 0;
    };
    const questions = this.#shared.shift() ?? this.#ofTurn(mayHaveTurn);
    if (questions === undefined) return soonestMs;
    this.#count(questions, atMs);
    return questions;
  }

  /** Removes and returns everything. */
  clear(): readonly MintQuestion[] {
    return [...this.#new.clear(), ...this.#shared.splice(0).flat(), ...this.#own.clear().flat()];
  }

  #ofTurn(mayHaveTurn: (address: string) => boolean): readonly MintQuestion[] | undefined {
    this.#isOwnNext = !this.#isOwnNext;
    const own = this.#isOwnNext ? this.#own.take(mayHaveTurn) : undefined;
    if (own !== undefined) return own;
    const questions = this.#new.takeMany(PER_CALL, mayHaveTurn);
    return questions.length > 0 ? questions : this.#own.take(mayHaveTurn);
  }

  #count(questions: readonly MintQuestion[], atMs: number): void {
    this.#all.take(ALL, atMs);
    const addresses = new Set(questions.map(({ address }) => address));
    for (const address of addresses) {
      if (address !== NOBODY) this.#addresses.take(address, atMs, 1 / addresses.size);
    }
  }
}
