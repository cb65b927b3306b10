import bs58 from "bs58";
import type { Address } from "../../primitives/address.ts";
import { minOf } from "../../primitives/integer.ts";
import type { Account } from "../../solana/account.ts";
import type { AccountReader, AccountsAtSlot, ProgramFilter } from "../port.ts";
import { isRefusal } from "./node-error.ts";
import type { RpcPool } from "./rpc-pool.ts";
import { asAccount, asAddress, asContext, asList, asRecord } from "./rpc-values.ts";

interface AccountReaderOptions {
  readonly pool: RpcPool;
  /** How sure the chain must be of the state read. Prices are taken from "processed". */
  readonly commitment: "processed" | "confirmed";
  /** False for a slot the chain cannot be at: such state is not taken, and another node is asked. */
  readonly isCredible?: (slot: bigint) => boolean;
}

const MAX_PER_CALL = 100;
/** Calls of one read that are under way together: a node has other callers too. */
const CALLS_AT_ONCE = 16;
/** Searches under way together, for whomever: a cold token takes a few dozen, and many may be asked for at once. */
const SEARCHES_AT_ONCE = 64;

/** Reads accounts by getMultipleAccounts and getProgramAccounts. */
export function createAccountReader({
  pool,
  commitment,
  isCredible = () => true,
}: AccountReaderOptions): AccountReader {
  const searches = createQueue(SEARCHES_AT_ONCE);
  const options = { isWrong: (result: unknown) => !isCredible(asContext(result, "accounts").slot) };

  async function fetchChunk(
    addresses: readonly Address[],
    minContextSlot: bigint | undefined,
  ): Promise<AccountsAtSlot> {
    const result = await pool.read(
      "getMultipleAccounts",
      [
        addresses.map(String),
        {
          encoding: "base64",
          commitment,
          ...(minContextSlot === undefined ? {} : { minContextSlot: Number(minContextSlot) }),
        },
      ],
      options,
    );
    const { slot, value } = asContext(result, "accounts");
    const values = asList(value, "accounts");
    return { slot, accounts: addresses.map((address, i) => asAccount(address, values[i] ?? null, slot)) };
  }

  return {
    async fetchAccounts(addresses, minContextSlot) {
      const answers: AccountsAtSlot[] = [];
      let next = 0;
      const fetchSome = async () => {
        for (let at = next; at < addresses.length; at = next) {
          next += MAX_PER_CALL;
          answers[at / MAX_PER_CALL] = await fetchChunk(addresses.slice(at, at + MAX_PER_CALL), minContextSlot);
        }
      };
      await Promise.all(Array.from({ length: Math.min(CALLS_AT_ONCE, addresses.length) }, fetchSome));
      return {
        slot: answers.reduce((least, { slot }) => minOf(slot, least), answers[0]?.slot ?? 0n),
        accounts: answers.flatMap(({ accounts }) => accounts),
      };
    },

    async fetchProgramAccounts({ program, dataSize, memcmp }: ProgramFilter) {
      let result: unknown;
      try {
        const filters = [
          ...(dataSize === undefined ? [] : [{ dataSize }]),
          ...memcmp.map(({ offset, bytes }) => ({ memcmp: { offset, bytes: bs58.encode(bytes) } })),
        ];
        const question = [program.toString(), { encoding: "base64", commitment, withContext: true, filters }];
        result = await searches(() => pool.read("getProgramAccounts", question, options));
      } catch (error) {
        if (isRefusal(error)) return "refused";
        throw error;
      }
      const { slot, value } = asContext(result, "a program's accounts");
      const found: Account[] = [];
      for (const entry of asList(value, "a program's accounts")) {
        const { pubkey, account } = asRecord(entry, "a program's accounts");
        const decoded = asAccount(asAddress(pubkey, "a program's accounts"), account, slot);
        if (decoded !== null) found.push(decoded);
      }
      return found;
    },
  };
}

/** Starts work in the order it comes, so much of it at once at most. */
function createQueue(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((start) => void waiting.push(start));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // Whoever ends hands its place on.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
