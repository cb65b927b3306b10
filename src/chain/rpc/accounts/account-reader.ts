import { Address } from "../../../primitives/address.ts";
import { encodeBase58 } from "../../../primitives/encoding/base58.ts";
import { minOf } from "../../../primitives/integer.ts";
import type { Account } from "../../../solana/account.ts";
import type { AccountReader, AccountsAtSlot, ProgramFilter } from "../../port.ts";
import { isOverLimit, isRefusal, isUnusable } from "../node-error.ts";
import type { RpcEndpoint } from "../rpc-endpoint.ts";
import type { ReadOptions, RpcPool } from "../rpc-pool.ts";
import { asAccount, asAddress, asContext, asList, asRecord } from "../rpc-values.ts";
import { GatheredReads } from "./gathered-reads.ts";
import { WorkQueue } from "./work-queue.ts";

interface AccountReaderOptions {
  readonly pool: RpcPool;
  /** The one endpoint to read from; undefined: any of the pool. */
  readonly only?: RpcEndpoint | undefined;
  /** Commitment of the state read. Prices are taken from "processed". */
  readonly commitment: "processed" | "confirmed";
  /** False for a slot the chain cannot be at: such state is discarded, and another node is asked. */
  readonly isCredible?: (slot: bigint) => boolean;
}

const MAX_PER_CALL = 100;
/** Reads of fewer accounts than this share calls with others. */
const MAX_GATHERED = 64;
/** Upper bound of concurrent calls of one read, which leaves room for the node's other callers. */
const MAX_CONCURRENT_CALLS = 16;
/** Upper bound of concurrent searches, over all reads: a cold token takes a few dozen, and many may be asked for at once. */
const MAX_CONCURRENT_SEARCHES = 64;
/** Searches whose answering node is remembered: some hundred tokens' worth, each a few hundred bytes. */
const MAX_SEARCHES_KEPT = 4_000;
/**
 * Most tries of a search that every node refuses for too many calls, and the pause between them: rate limits are per second. Milliseconds.
 */
const MOST_TRIES = 4;
const LIMIT_MS = 1_000;
/** Accounts decoded in one turn of the event loop. */
const DECODED_AT_ONCE = 256;
const ADDRESS_BYTES = 32;
const WHAT_PROGRAM_ACCOUNTS = "a program's accounts";

/** Reads accounts by getMultipleAccounts and getProgramAccounts. */
export function createAccountReader(options: AccountReaderOptions): AccountReader {
  return new RpcAccountReader(options);
}

class RpcAccountReader implements AccountReader {
  readonly #pool: RpcPool;
  readonly #commitment: "processed" | "confirmed";
  readonly #readOptions: Pick<ReadOptions, "isWrong" | "only">;
  readonly #searches = new WorkQueue(MAX_CONCURRENT_SEARCHES);
  readonly #gathered = new GatheredReads(MAX_PER_CALL, (addresses) => this.#fetchChunk(addresses, undefined));
  /** Index of the node at which a repeated search begins. */
  readonly #searchedAt = new Map<string, number>();
  /** Calls so far: each begins at another node, so that not everything rests on one node's word. */
  #calls = 0;
  /** False if, since a search was refused for too many calls at every try, no search was answered. */
  #isPatient = true;

  constructor({ pool, only, commitment, isCredible = () => true }: AccountReaderOptions) {
    this.#pool = pool;
    this.#commitment = commitment;
    this.#readOptions = { only, isWrong: (result) => !isCredible(asContext(result, "accounts").slot) };
  }

  async fetchAccounts(
    addresses: readonly Address[],
    minContextSlot?: bigint,
    mayWait?: boolean,
  ): Promise<AccountsAtSlot> {
    if (minContextSlot === undefined && addresses.length > 0 && addresses.length < MAX_GATHERED)
      return this.#gathered.read(addresses, mayWait);
    const answers: AccountsAtSlot[] = [];
    let next = 0;
    const fetchChunks = async () => {
      for (let at = next; at < addresses.length; at = next) {
        next += MAX_PER_CALL;
        answers[at / MAX_PER_CALL] = await this.#fetchChunk(addresses.slice(at, at + MAX_PER_CALL), minContextSlot);
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_CONCURRENT_CALLS, addresses.length) }, fetchChunks));
    return {
      slot: answers.reduce((least, { slot }) => minOf(slot, least), answers[0]?.slot ?? 0n),
      accounts: answers.flatMap(({ accounts }) => accounts),
      node: answers.length === 1 ? answers[0]!.node : undefined,
    };
  }

  async fetchProgramAccounts({
    program,
    dataSize,
    memcmp,
    atOnce = false,
  }: ProgramFilter): Promise<readonly Account[] | "refused" | "oversized"> {
    const filters: object[] = memcmp.map(({ offset, bytes }) => ({ memcmp: { offset, bytes: base58Of(bytes) } }));
    if (dataSize !== undefined) filters.unshift({ dataSize });
    const config = { encoding: "base64", commitment: this.#commitment, withContext: true, filters };
    try {
      return await decodeProgramAccounts(await this.#searchWithinLimits(program, config));
    } catch (error) {
      if (isRefusal(error)) return "refused";
      if (!isUnusable(error)) throw error;
      if (atOnce) return "oversized";
      return await this.#searchInParts(program, config, error);
    }
  }

  /**
   * Repeats a search that every node refuses for too many calls: a new token takes 17 at once, and a rate limit would leave out the
   * same venues each time. Without an answered search since the last failure there is no repeat.
   */
  async #searchWithinLimits(program: Address, config: object): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#search(program, config);
      } catch (error) {
        if (!isOverLimit(error) || !this.#isPatient) throw error;
        if (tries === MOST_TRIES) {
          this.#isPatient = false;
          throw error;
        }
      }
      await new Promise((resolve) => setTimeout(resolve, LIMIT_MS));
    }
  }

  #search(program: Address, config: object): Promise<unknown> {
    const key = `${program} ${JSON.stringify(config)}`;
    return this.#searches.run(() =>
      this.#pool.read("getProgramAccounts", [program.toString(), config], {
        ...this.#readOptions,
        startAt: this.#searchedAt.get(key) ?? this.#calls++,
        onAnswer: (endpoint) => this.#noteSearched(key, endpoint),
      }),
    );
  }

  /** Next time the search begins at another node, which may show what this one leaves out. */
  #noteSearched(key: string, endpoint: RpcEndpoint): void {
    this.#isPatient = true;
    this.#searchedAt.delete(key);
    this.#searchedAt.set(key, this.#pool.endpoints.indexOf(endpoint) + 1);
    if (this.#searchedAt.size > MAX_SEARCHES_KEPT) this.#searchedAt.delete(this.#searchedAt.keys().next().value!);
  }

  /**
   * A search with a too large answer: first the addresses alone, a sixth of it or less, then the accounts, a hundred to a call.
   * @throws what the whole search threw, if the addresses cannot be had either
   */
  async #searchInParts(program: Address, config: object, whole: unknown): Promise<readonly Account[]> {
    const slim = await this.#searchWithinLimits(program, { ...config, dataSlice: { offset: 0, length: 0 } }).catch(
      () => {
        throw whole;
      },
    );
    const addresses = (await decodeProgramAccounts(slim)).map(({ address }) => address);
    const { accounts } = await this.fetchAccounts(addresses);
    return accounts.filter((account) => account?.owner === program).map((account) => account!);
  }

  #optionsOfNext(): ReadOptions {
    return { ...this.#readOptions, startAt: this.#calls++ };
  }

  async #fetchChunk(addresses: readonly Address[], minContextSlot: bigint | undefined): Promise<AccountsAtSlot> {
    const config = {
      encoding: "base64",
      commitment: this.#commitment,
      ...(minContextSlot === undefined ? {} : { minContextSlot: Number(minContextSlot) }),
    };
    const params = [addresses.map(String), config];
    let node: number | undefined;
    const onAnswer = (endpoint: RpcEndpoint) => {
      node = this.#pool.endpoints.indexOf(endpoint);
    };
    const options = this.#optionsOfNext();
    // An account that is left out may exist.
    const isWrong = (answer: unknown) =>
      options.isWrong?.(answer) === true ||
      asList(asContext(answer, "accounts").value, "accounts").length !== addresses.length;
    const result = await this.#pool.read("getMultipleAccounts", params, { ...options, isWrong, onAnswer });
    const { slot, value } = asContext(result, "accounts");
    const values = asList(value, "accounts");
    return { slot, accounts: addresses.map((address, i) => asAccount(address, values[i], slot)), node };
  }
}

/** The text that the address itself keeps: a search for a token names it 17 times. */
function base58Of(bytes: Uint8Array): string {
  return bytes.length === ADDRESS_BYTES ? Address.from(bytes).toString() : encodeBase58(bytes);
}

/** Decodes many accounts in turns of the event loop, so that none of them is long. */
async function decodeProgramAccounts(result: unknown): Promise<readonly Account[]> {
  const { slot, value } = asContext(result, WHAT_PROGRAM_ACCOUNTS);
  const found: Account[] = [];
  const entries = asList(value, WHAT_PROGRAM_ACCOUNTS);
  for (let i = 0; i < entries.length; i++) {
    if (i % DECODED_AT_ONCE === DECODED_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    const { pubkey, account } = asRecord(entries[i], WHAT_PROGRAM_ACCOUNTS);
    const decoded = asAccount(asAddress(pubkey, WHAT_PROGRAM_ACCOUNTS), account, slot);
    if (decoded !== null) found.push(decoded);
  }
  return found;
}
