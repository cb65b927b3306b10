import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccountReader, KnownAccount } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import { isMint } from "../../solana/token/mint.ts";
import type { SearchCaller } from "../port.ts";
import { FairQueue } from "./fair-queue.ts";
import { Paces } from "./paces.ts";

interface MintProofsOptions {
  readonly reader: AccountReader;
  readonly now: Now;
  readonly networkOf: (address: string) => string;
  /** How long "there is none" holds before the next question reads again. Milliseconds. */
  readonly negativeMs: number;
}

interface Question {
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
const ALL = "all";

/**
 * Proves that mints exist before anything else is done for them. Questions that come together share a call; callers take turns
 * for the places in it. A mint that does not exist costs a place in one call, and is neither followed nor searched for.
 */
export class MintProofs {
  readonly #options: MintProofsOptions;
  readonly #queue = new FairQueue<Question>();
  readonly #pending = new Map<Address, Question>();
  /** When each was found absent (epoch milliseconds), oldest first. */
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
    const atMs = this.#absent.get(mint);
    return atMs !== undefined && this.#options.now() < atMs + this.#options.negativeMs;
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
    const question: Question = { mint, answer: Promise.withResolvers() };
    this.#pending.set(mint, question);
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
    for (const { answer } of this.#queue.clear()) answer.reject(overloaded());
  }

  #refusal(address: string, key: string): TradewireError | undefined {
    if (this.#queue.size >= MAX_WAITING) return overloaded();
    if (this.#queue.waitingOf(address, key) < MAX_WAITING_OF_KEY) return undefined;
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
    while (!this.#isClosed && this.#queue.size > 0 && this.#calls < CALLS_AT_ONCE) {
      const atMs = this.#options.now();
      const waitMs = this.#pace.waitMs(ALL, atMs);
      if (waitMs > 0) {
        this.#timer = setTimeout(this.#ask, Math.ceil(waitMs));
        return;
      }
      this.#pace.take(ALL, atMs);
      const questions: Question[] = [];
      while (questions.length < PER_CALL && this.#queue.size > 0) questions.push(this.#queue.take(() => true)!);
      void this.#read(questions);
    }
  };

  async #read(questions: readonly Question[]): Promise<void> {
    const { reader, now } = this.#options;
    this.#calls += 1;
    const readAtMs = now();
    try {
      const { slot, accounts } = await reader.fetchAccounts(questions.map(({ mint }) => mint));
      questions.forEach(({ mint, answer }, i) => {
        const read = accounts[i] ?? null;
        // Any other account is as good as none.
        const account = read !== null && isMint(read) ? read : null;
        if (account === null) this.#noteAbsent(mint, readAtMs);
        else this.#absent.delete(mint);
        answer.resolve({ account, slot: account?.slot ?? slot, readAtMs });
      });
    } catch (error) {
      for (const { answer } of questions) answer.reject(error);
    } finally {
      for (const { mint } of questions) this.#pending.delete(mint);
      this.#calls -= 1;
      this.#ask();
    }
  }

  #noteAbsent(mint: Address, atMs: number): void {
    this.#absent.delete(mint);
    this.#absent.set(mint, atMs);
    if (this.#absent.size > MAX_ABSENT) this.#absent.delete(this.#absent.keys().next().value!);
  }
}

function overloaded(): TradewireError {
  return new TradewireError(
    "OVERLOADED",
    "Too many tokens that are not in memory yet are being asked for. Retry after the time in Retry-After.",
    { retryAfterMs: 1_000 },
  );
}
