import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AccountReader,
  type AccountsAtSlot,
  isOversized,
  isUncertain,
  type KnownAccount,
} from "../../../chain/port.ts";
import { TradewireError } from "../../../errors/tradewire-error.ts";
import type { Address } from "../../../primitives/address.ts";
import type { Now } from "../../../primitives/clock.ts";
import { minOf } from "../../../primitives/integer.ts";
import type { OneATurn } from "../../../primitives/turns/one-a-turn.ts";
import type { Account } from "../../../solana/account.ts";
import { isMint } from "../../../solana/token/mint.ts";
import type { SearchCaller } from "../../port.ts";
import { type MintQuestion, MintQuestions } from "./mint-questions.ts";
import type { OfCaller } from "./split-batch.ts";

interface MintProofsOptions {
  readonly reader: AccountReader;
  /** A node other than the one at this index; undefined if there is none. Absent: one node's word is enough. */
  readonly another?: ((node: number) => Pick<AccountReader, "fetchAccounts"> | undefined) | undefined;
  /** Gives the work for each mint a turn of the loop. */
  readonly pace: OneATurn;
  readonly now: Now;
  readonly networkOf: (address: string) => string;
  /** How long a missing mint counts as missing before the next question reads again. Milliseconds. */
  readonly negativeMs: number;
}

const CALLS_AT_ONCE = 4;
/** Most pending questions: of one key at one address, of one address, and in all. */
const MAX_WAITING_OF_KEY = 500;
const MAX_WAITING_OF_ADDRESS = 1_000;
const MAX_WAITING = 5_000;
/** Addresses without a mint that are remembered. */
const MAX_ABSENT = 10_000;
/** How long an account that is too large for any answer counts as no mint. Milliseconds. */
const OVERSIZED_MS = 60_000;

/**
 * Proves that mints exist before anything else is done for them. Questions that come together share a call; callers take turns
 * for the places in it, each within its own budget of calls. A mint that does not exist costs a place in one call; it is not
 * followed or searched for. If there are two nodes, both must say that it does not exist, since a node that lags does not know
 * new tokens.
 *
 * An account too large for an answer fails the call that asks for it. The questions of that call are asked again in halves, first
 * split by caller address, until the large account is alone. It then counts as no mint, and is not read again for a while.
 */
export class MintProofs {
  readonly #options: MintProofsOptions;
  readonly #queue = new MintQuestions();
  /** One question per mint and address, with one answer, so that no caller waits in the line of another address that asked before. */
  readonly #pending = new Map<Address, MintQuestion[]>();
  /** Questions without an answer, by address, and by address and key. */
  readonly #openOf = new Map<string, number>();
  /** Until when each counts as absent (epoch milliseconds), in the order in which they were found so. */
  readonly #absent = new Map<Address, number>();
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
    const key = caller?.principal?.keyId ?? "";
    const address = caller === undefined ? "" : this.#options.networkOf(caller.peer);
    const pending = this.#pending.get(mint) ?? [];
    const [first] = pending;
    if (first !== undefined && pending.some((one) => one.address === address)) return first.answer.promise;
    const refusal = this.#refusal(address, key);
    if (refusal !== undefined) return first?.answer.promise ?? Promise.reject(refusal);
    const answer = first?.answer ?? Promise.withResolvers<KnownAccount>();
    const question: MintQuestion = { mint, address, key, answer };
    this.#pending.set(mint, [...pending, question]);
    for (const name of namesOf(question)) this.#openOf.set(name, this.#openAt(name) + 1);
    this.#queue.push(question);
    // The other questions of this turn of the event loop come along.
    if (!this.#isAsking && this.#calls < CALLS_AT_ONCE) {
      this.#isAsking = true;
      void nextTurn().then(this.#ask);
    }
    return answer.promise;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#pending.clear();
    this.#openOf.clear();
    for (const { answer } of this.#queue.clear()) answer.reject(overloaded());
  }

  #refusal(address: string, key: string): TradewireError | undefined {
    if (this.#pending.size >= MAX_WAITING) return overloaded();
    const [ofAddress, ofKey] = namesOf({ address, key }).map((name) => this.#openAt(name));
    const isKeyOver = ofKey! >= MAX_WAITING_OF_KEY;
    if (!isKeyOver && ofAddress! < MAX_WAITING_OF_ADDRESS) return undefined;
    return new TradewireError(
      "RATE_LIMIT_EXCEEDED",
      `Too many tokens that are not in memory yet were asked for with this ${isKeyOver ? "API key" : "address"}. Retry after the time in Retry-After.`,
      { retryAfterMs: 1_000 },
    );
  }

  /** Sends calls while there are questions, places and time for them. */
  readonly #ask = (): void => {
    this.#isAsking = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (!this.#isClosed && this.#calls < CALLS_AT_ONCE) {
      const next = this.#queue.next(this.#options.now());
      if (next === undefined) return;
      if (typeof next === "number") {
        this.#timer = setTimeout(this.#ask, Math.ceil(next));
        return;
      }
      void this.#read(next);
    }
  };

  #openAt(name: string): number {
    return this.#openOf.get(name) ?? 0;
  }

  async #read(questions: readonly MintQuestion[]): Promise<void> {
    const { reader, now, negativeMs, pace } = this.#options;
    this.#calls += 1;
    const readAtMs = now();
    try {
      const mints = questions.map(({ mint }) => mint);
      const { slot, accounts } = await this.#borneOut(mints, await reader.fetchAccounts(mints));
      for (const [i, question] of questions.entries()) {
        const read = accounts[i] ?? null;
        // Any other account counts as a missing mint.
        const account = read !== null && isMint(read) ? read : null;
        if (account === null) this.#noteAbsent(question.mint, readAtMs + negativeMs);
        else this.#absent.delete(question.mint);
        this.#end(question);
        const answer = { account, slot: account?.slot ?? slot, readAtMs };
        // If there is a mint, its caller's work begins.
        question.answer.resolve(account === null ? answer : pace.next().then(() => answer));
      }
    } catch (error) {
      // One node's word does not make a mint absent, but it separates it from the others.
      const isAlone = questions.length === 1 && isUncertain(error);
      if (isOversized(error) && !isAlone && !this.#isClosed) this.#divide(questions, readAtMs);
      else for (const question of questions) this.#fail(question, error);
    } finally {
      this.#calls -= 1;
      this.#ask();
    }
  }

  /** The accounts read, with missing mints replaced by another node's answer; unchanged while no other node answers. */
  async #borneOut(mints: readonly Address[], read: AccountsAtSlot): Promise<AccountsAtSlot> {
    const other = read.node === undefined ? undefined : this.#options.another?.(read.node);
    const missing = mints.filter((_, i) => !isMintAt(read.accounts[i]));
    if (other === undefined || missing.length === 0) return read;
    const again = await other.fetchAccounts(missing).catch(() => undefined);
    if (again === undefined) return read;
    const found = new Map(missing.map((mint, i) => [mint, again.accounts[i]]));
    const accounts = mints.map((mint, i) => {
      const held = found.get(mint);
      return isMintAt(held) ? held : (read.accounts[i] ?? null);
    });
    return { slot: minOf(read.slot, again.slot), accounts };
  }

  #divide(questions: readonly MintQuestion[], readAtMs: number): void {
    if (questions.length > 1) {
      this.#queue.divide(questions);
      return;
    }
    for (const question of questions) {
      this.#noteAbsent(question.mint, readAtMs + OVERSIZED_MS);
      this.#end(question);
      question.answer.resolve({ account: null, slot: 0n, readAtMs });
    }
  }

  #fail(question: MintQuestion, error: unknown): void {
    this.#end(question);
    question.answer.reject(error);
  }

  #end(question: MintQuestion): void {
    const ended = this.#pending.get(question.mint);
    // It may have been answered in another address's turn.
    if (ended?.includes(question) !== true) return;
    this.#pending.delete(question.mint);
    for (const one of ended) {
      this.#queue.remove(one);
      for (const name of namesOf(one)) {
        const open = this.#openAt(name) - 1;
        if (open > 0) this.#openOf.set(name, open);
        else this.#openOf.delete(name);
      }
    }
  }

  #noteAbsent(mint: Address, untilMs: number): void {
    this.#absent.delete(mint);
    this.#absent.set(mint, untilMs);
    if (this.#absent.size > MAX_ABSENT) this.#absent.delete(this.#absent.keys().next().value!);
  }
}

const isMintAt = (account: Account | null | undefined): account is Account => account != null && isMint(account);

/** The names that a question counts under: its address, and its key at that. */
const namesOf = ({ address, key }: OfCaller): readonly string[] => [address, `${address} ${key}`];

function overloaded(): TradewireError {
  return new TradewireError(
    "OVERLOADED",
    "Too many tokens that are not in memory yet are being asked for. Retry after the time in Retry-After.",
    { retryAfterMs: 1_000 },
  );
}
