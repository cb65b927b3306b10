import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { Address } from "../../primitives/address.ts";
import { associatedTokenAddress } from "../../solana/pda.ts";
import { TOKEN_PROGRAM } from "../../solana/programs.ts";
import { createRpcPool } from "./rpc-pool.ts";
import { fetchRecord } from "./transaction-reader.ts";

const [wallet, market, vault, mint, sold] = [1, 2, 3, 4, 5].map((byte) => Address.from(new Uint8Array(32).fill(byte)));
const own = (of: Address) => associatedTokenAddress(wallet!, of, TOKEN_PROGRAM);

const balance = (accountIndex: number, of: Address, owner: Address, amount: bigint) => ({
  accountIndex,
  mint: String(of),
  owner: String(owner) as string | null | undefined,
  uiTokenAmount: { amount: String(amount) },
});

/** A swap of all of one token for another: the first account is closed, the second is grown. */
const swap = () => ({
  slot: 7,
  transaction: {
    signatures: ["signature"],
    message: { accountKeys: [wallet, own(sold!), own(mint!), vault, market].map(String) },
  },
  meta: {
    err: null,
    fee: 5_000,
    preBalances: [100, 20, 20, 20, 1],
    postBalances: [115, 0, 20, 20, 1],
    preTokenBalances: [
      balance(1, sold!, wallet!, 50n),
      balance(2, mint!, wallet!, 1_000n),
      balance(3, mint!, market!, 900n),
    ],
    postTokenBalances: [balance(2, mint!, wallet!, 1_007n), balance(3, mint!, market!, 893n)],
  },
});
type Swap = ReturnType<typeof swap>;

async function read(change: (record: Swap) => void) {
  const record = swap();
  change(record);
  const endpoint = fakeEndpoint({ getTransaction: () => record });
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  return (await fetchRecord(pool, endpoint, "signature"))!;
}

test.each([
  ["is left out", (entry: { owner?: unknown }) => void delete entry.owner],
  ["is null", (entry: { owner?: unknown }) => void Object.assign(entry, { owner: null })],
])("an owner that %s is known by the address of the wallet's account", async (_how, change) => {
  const { preTokenBalances, postTokenBalances } = await read(({ meta }) => {
    for (const entry of [...meta.preTokenBalances, ...meta.postTokenBalances]) change(entry);
  });
  expect(preTokenBalances.map(({ owner }) => owner)).toEqual([wallet, wallet, undefined]);
  expect(postTokenBalances.map(({ owner }) => owner)).toEqual([wallet, undefined]);
});

test.each<[string, (record: Swap) => void]>([
  ["lacks what the wallet held", ({ meta }) => void meta.preTokenBalances.splice(1, 1)],
  ["lists nothing held before", ({ meta }) => void meta.preTokenBalances.splice(0)],
  ["lacks what the wallet holds", ({ meta }) => void meta.postTokenBalances.shift()],
  ["lists nothing held after", ({ meta }) => void meta.postTokenBalances.splice(0)],
  ["lists an account twice", ({ meta }) => void meta.postTokenBalances.push(meta.postTokenBalances[0]!)],
  ["lists a balance of no account", ({ meta }) => void Object.assign(meta.postTokenBalances[1]!, { accountIndex: 5 })],
  ["lacks lamports of an account before", ({ meta }) => void meta.preBalances.pop()],
  ["lacks lamports of an account after", ({ meta }) => void meta.postBalances.pop()],
  ["has lamports of one more", ({ meta }) => void meta.postBalances.push(1)],
])("a record that %s is refused: amounts from it would be wrong", async (_what, change) => {
  await expect(read(change)).rejects.toMatchObject({ kind: "malformed" });
});

test.each<[string, (record: Swap) => void]>([
  ["closed an account", () => {}],
  [
    "created an account",
    ({ meta }) => {
      meta.preBalances[2] = 0;
      meta.preTokenBalances.splice(1, 1);
    },
  ],
  [
    "created an account where lamports lay",
    ({ meta }) => {
      meta.preTokenBalances.splice(1, 1);
      meta.postTokenBalances[0] = balance(2, mint!, wallet!, 7n);
    },
  ],
])("a trade that %s has a whole record", async (_what, change) => {
  expect(await read(change)).toMatchObject({ slot: 7n });
});
