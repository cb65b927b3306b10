import { setImmediate as nextTurn } from "node:timers/promises";
import { type AccountReader, isOversized, isUncertain, type KnownAccount } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { isMint } from "../../solana/token/mint.ts";
import type { SearchCaller } from "../port.ts";
import { FairQueue } from "./fair-queue.ts";
import { Paces } from "./paces.ts";
import { halvesOf, isOfOneAddress, type OfCaller } from "./split-batch.ts";

interface MintProofsOptions {
  readonly reader: AccountReader;
  readonly now: Now;
  readonly networkOf: (address: string) => string;
  /** How long "there is none" holds before the next question reads again. Milliseconds. */
  readonly negativeMs: number;
}

interface Question extends OfCaller {
  readonly mint: Address;
  readonly answer: PromiseWithResolvers<KnownAccount>;
}

/** Mints read in one call. */
const PER_CALL = 100;
const CALLS_AT_ONCE = 4;
/** Calls in the long run, however many mints are asked for, and how many seconds' worth may come at once. */
const CALLS_PER_SECOND = 50;
const BURST_SECONDS = 1;
const MAX_WAITING_OF_KEY = 500;
const MAX_WAITING = 5_000;
/** Addresses without a mint that are remembered. */
const MAX_ABSENT = 10_000;
/** How long an account that no answer can carry counts as no mint. Milliseconds. */
const OVERSIZED_MS = 60_000;
const ALL = "all";

/**
 * Proves that mints exist before anything else is done for them. Questions that come together share a call; callers take turns
 * for the places in it. A mint that does not exist costs a place in one call, and is neither followed nor searched for.
 *
 * An account too large for an answer fails the call that asks for it. The questions of that call are asked again in halves, those
 * of different addresses apart first, until it is alone: it is no mint then, and not read again for a while.
 */
export class MintProofs {
  readonly #options: MintProofsOptions;
  readonly #queue = new FairQueue<Question>();
  readonly #pending = new Map<Address, Question>();
  /** Parts of calls whose answers were too large: those of several addresses go before everything else. */
  readonly #shared: (readonly Question[])[] = [];
  /** Those of one address alternate with new questions. */
  readonly #own: (readonly Question[])[] = [];
  #isOwnNext = false;
  /** Questions without an answer, by address and key. */
  readonly #openOf = new Map<string, number>();
  /** Until when each counts as absent (epoch milliseconds), in the order in which they were found so. */
  readonly #absent = new Map<Address, number>();
  readonly #pace = new Paces(CALLS_PER_SECOND, BURST_SECONDS);
  #calls = 0;
  /** True while questions are collected for the next call. */
  #isAsking = false;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: MintProofsOptions) {
    this.#options = options;
  }

  /** True if there was no mint a moment ago. */
  isAbsent(mint: Address): boolean {
    const untilMs = this.#absent.get(mint);
    return untilMs !== undefined && this.#options.now() < untilMs;
  }

  /**
   * The mint's account, or that there is none.
   * @throws TradewireError UPSTREAM_ERROR, RATE_LIMIT_EXCEEDED or OVERLOADED if too many questions wait
   */
  prove(mint: Address, caller: SearchCaller | undefined): Promise<KnownAccount> {
    const pending = this.#pending.get(mint);
    if (pending !== undefined) return pending.answer.promise;
    const key = caller?.principal?.keyId ?? "";
    const address = caller === undefined ? "" : this.#options.networkOf(caller.peer);
    const refusal = this.#refusal(address, key);
    if (refusal !== undefined) return Promise.reject(refusal);
    const question: Question = { mint, address, key, answer: Promise.withResolvers() };
    this.#pending.set(mint, question);
    this.#openOf.set(nameOf(question), (this.#openOf.get(nameOf(question)) ?? 0) + 1);
    this.#queue.push(address, key, question);
    // The other questions of this turn of the event loop come along.
    if (!this.#isAsking && this.#timer === undefined && this.#calls < CALLS_AT_ONCE) {
      this.#isAsking = true;
      void nextTurn().then(this.#ask);
    }
    return question.answer.promise;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#pending.clear();
    this.#openOf.clear();
    const waiting = [...this.#queue.clear(), ...this.#shared.splice(0).flat(), ...this.#own.splice(0).flat()];
    for (const { answer } of waiting) answer.reject(overloaded());
  }

  #refusal(address: string, key: string): TradewireError | undefined {
    if (this.#pending.size >= MAX_WAITING) return overloaded();
    if ((this.#openOf.get(nameOf({ address, key })) ?? 0) < MAX_WAITING_OF_KEY) return undefined;
    return new TradewireError(
      "RATE_LIMIT_EXCEEDED",
      "Too many tokens that are not in memory yet were asked for with this API key. Retry after the time in Retry-After.",
      { retryAfterMs: 1_000 },
    );
  }

  /** Sends calls while there are questions, places and time for them. */
  readonly #ask = (): void => {
    this.#isAsking = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (!this.#isClosed && this.#isAnyWaiting && this.#calls < CALLS_AT_ONCE) {
      const atMs = this.#options.now();
      const waitMs = this.#pace.waitMs(ALL, atMs);
      if (waitMs > 0) {
        this.#timer = setTimeout(this.#ask, Math.ceil(waitMs));
        return;
      }
      this.#pace.take(ALL, atMs);
      void this.#read(this.#next());
    }
  };

  get #isAnyWaiting(): boolean {
    return this.#queue.size + this.#shared.length + this.#own.length > 0;
  }

  /** The questions of the next call. */
  #next(): readonly Question[] {
    const shared = this.#shared.shift();
    if (shared !== undefined) return shared;
    this.#isOwnNext = !this.#isOwnNext;
    const own = this.#isOwnNext || this.#queue.size === 0 ? this.#own.shift() : undefined;
    if (own !== undefined) return own;
    const questions: Question[] = [];
    while (questions.length < PER_CALL && this.#queue.size > 0) questions.push(this.#queue.take(() => true)!);
    return questions;
  }

  async #read(questions: readonly Question[]): Promise<void> {
    const { reader, now, negativeMs } = this.#options;
    this.#calls += 1;
    const readAtMs = now();
    try {
      const { slot, accounts } = await reader.fetchAccounts(questions.map(({ mint }) => mint));
      questions.forEach((question, i) => {
        const read = accounts[i] ?? null;
        // Any other account is as good as none.
        const account = read !== null && isMint(read) ? read : null;
        if (account === null) this.#noteAbsent(question.mint, readAtMs + negativeMs);
        else this.#absent.delete(question.mint);
        this.#end(question);
        question.answer.resolve({ account, slot: account?.slot ?? slot, readAtMs });
      });
    } catch (error) {
      // One node's word makes no mint absent; it still parts it from the others.
      const isAlone = questions.length === 1 && isUncertain(error);
      if (isOversized(error) && !isAlone && !this.#isClosed) this.#divide(questions, readAtMs);
      else for (const question of questions) this.#fail(question, error);
    } finally {
      this.#calls -= 1;
      this.#ask();
    }
  }

  #divide(questions: readonly Question[], readAtMs: number): void {
    if (questions.length > 1) {
      for (const half of halvesOf(questions)) (isOfOneAddress(half) ? this.#own : this.#shared).push(half);
      return;
    }
    for (const question of questions) {
      this.#noteAbsent(question.mint, readAtMs + OVERSIZED_MS);
      this.#end(question);
      question.answer.resolve({ account: null, slot: 0n, readAtMs });
    }
  }

  #fail(question: Question, error: unknown): void {
    this.#end(question);
    question.answer.reject(error);
  }

  #end(question: Question): void {
    this.#pending.delete(question.mint);
    const name = nameOf(question);
    const open = (this.#openOf.get(name) ?? 1) - 1;
    if (open > 0) this.#openOf.set(name, open);
    else this.#openOf.delete(name);
  }

  #noteAbsent(mint: Address, untilMs: number): void {
    this.#absent.delete(mint);
    this.#absent.set(mint, untilMs);
    if (this.#absent.size > MAX_ABSENT) this.#absent.delete(this.#absent.keys().next().value!);
  }
}

const nameOf = ({ address, key }: OfCaller): string => `${address} ${key}`;

function overloaded(): TradewireError {
  return new TradewireError(
    "OVERLOADED",
    "Too many tokens that are not in memory yet are being asked for. Retry after the time in Retry-After.",
    { retryAfterMs: 1_000 },
  );
}
