import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../test/support/fake-chain.ts";
import { createTestWallet } from "../../../test/support/wallet.ts";
import { Address } from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";
import { setComputeUnitLimit, setComputeUnitPrice } from "../../solana/compute-budget.ts";
import { readonly, writable } from "../../solana/instruction.ts";
import { compileMessage } from "../../solana/message.ts";
import { SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { createRpcPool } from "../rpc/rpc-pool.ts";
import { createLandedPrices } from "./landed-prices.ts";

const payer = createTestWallet(new Uint8Array(32).fill(5)).address;
const address = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const [POOL, VAULT, READ, MARKET] = [address(1), address(2), address(3), address(4)];
const swap = {
  program: SYSTEM_PROGRAM,
  accounts: [writable(POOL), readonly(READ), writable(VAULT)],
  data: new Uint8Array(1),
};
const plan = { payer, blockhash: new Uint8Array(32), lookupTables: [] };
const signed = (message: Uint8Array) => concatBytes(Uint8Array.of(1), new Uint8Array(64), message);
const transaction = signed(
  compileMessage({ ...plan, instructions: [setComputeUnitLimit(1_000), setComputeUnitPrice(700n), swap] }),
);

/** A node that lists these prices by slot: of the chain, and of the accounts. */
const node = (prices: Readonly<Record<number, readonly [chain: number, accounts: number]>>, name = "node") =>
  fakeEndpoint(
    {
      getRecentPrioritizationFees: (accounts: readonly string[]) =>
        Object.entries(prices).map(([slot, [chain, written]]) => ({
          slot: Number(slot),
          prioritizationFee: accounts.length === 0 ? chain : written,
        })),
    },
    name,
  );

function readerOf(...endpoints: readonly ReturnType<typeof node>[]) {
  const clock = { ms: 0 };
  const pool = createRpcPool({ endpoints, now: () => clock.ms, warn: () => {} });
  return { clock, reader: createLandedPrices({ pool, now: () => clock.ms }) };
}

test("asks for the chain, and for the markets and written accounts, and gives the bid beside what landed", async () => {
  const one = node({ 10: [5, 900], 11: [0, 0] });
  expect(await readerOf(one).reader.read(transaction, [MARKET])).toEqual({
    bid: 700n,
    nodes: 1,
    slots: [
      { slot: 10n, chain: 5n, accounts: 900n },
      { slot: 11n, chain: 0n, accounts: 0n },
    ],
  });
  expect(one.calls.map(({ params }) => params[0])).toEqual([[], [MARKET, POOL, VAULT].map(String)]);
});

test("of two nodes the lower price counts, and only slots that both list: one cannot make a price up", async () => {
  const liar = node({ 10: [9_999, 99_999], 11: [9_999, 99_999], 12: [9_999, 99_999] }, "liar");
  const { reader } = readerOf(liar, node({ 10: [5, 900], 12: [0, 20] }));
  expect(await reader.read(transaction, [])).toEqual({
    bid: 700n,
    nodes: 2,
    slots: [
      { slot: 10n, chain: 5n, accounts: 900n },
      { slot: 12n, chain: 0n, accounts: 20n },
    ],
  });
});

test("undefined without a node that lists prices, for malformed answers, and beyond the budget of calls", async () => {
  const refusing = fakeEndpoint({});
  expect(await readerOf(refusing).reader.read(transaction, [])).toBeUndefined();
  const malformed = fakeEndpoint({ getRecentPrioritizationFees: () => [{ slot: "x" }] });
  expect(await readerOf(malformed).reader.read(transaction, [])).toBeUndefined();
  const one = node({ 10: [0, 0] });
  const { clock, reader } = readerOf(one);
  const readOften = async (times: number) => {
    let read = 0;
    for (let i = 0; i < times; i++) if ((await reader.read(transaction, [])) !== undefined) read += 1;
    return read;
  };
  expect(await readOften(100)).toBe(8);
  clock.ms += 1_000;
  expect(await readOften(100)).toBe(2);
  expect(one.calls).toHaveLength(20);
});
