import { describe, expect, test } from "vitest";
import type { TokenBalanceRecord, TransactionRecord } from "../../../chain/port.ts";
import { Address } from "../../../primitives/address.ts";
import { createRandom } from "../../../primitives/random.ts";
import { associatedTokenAddress } from "../../../solana/pda.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import type { SealedTrade } from "../../build/token/sealed-trade.ts";
import { readReceipt } from "./receipt.ts";

const random = createRandom(31);
const address = () => Address.from(random.bytes(32));
const [WALLET, OTHER, TOKEN, HUB, VAULT, HELD] = [address(), address(), address(), address(), address(), address()];

const FEE = 5_077n;
const COSTS = { baseFee: 1n, priorityFee: 77n, tip: 900n, rentPaid: 2n, rentReturned: 3n };

const sealedTrade = (change: Partial<SealedTrade>): SealedTrade =>
  ({
    wallet: WALLET,
    inMint: SOL_MINT,
    outMint: TOKEN,
    costs: COSTS,
    route: [],
    creates: [],
    ...change,
  }) as SealedTrade;

/** The record of a transaction of the wallet, second in the account list; balances are before and after. */
function recordOf(
  wallet: readonly [bigint, bigint],
  others: readonly (readonly [Address, bigint, bigint])[] = [],
  tokens: readonly (readonly [mint: Address, owner: Address, before: bigint, after: bigint])[] = [],
): TransactionRecord {
  const accounts = [[OTHER, 7n, 7n] as const, [WALLET, ...wallet] as const, ...others];
  const balances = (side: 2 | 3): TokenBalanceRecord[] =>
    tokens.map((one, accountIndex) => ({ accountIndex, mint: one[0], owner: one[1], amount: one[side] }));
  return {
    slot: 1n,
    error: null,
    feeLamports: FEE,
    accounts: accounts.map(([of]) => of),
    preBalances: accounts.map(([, before]) => before),
    postBalances: accounts.map(([, , after]) => after),
    preTokenBalances: balances(2),
    postTokenBalances: balances(3),
    logs: [],
    computeUnitsConsumed: undefined,
  };
}

test("a buy: lamports without fee and tip, and only the wallet's tokens", () => {
  const record = recordOf(
    [1_000_000n, 1_000_000n - 40_000n - FEE - 900n],
    [],
    [
      [TOKEN, WALLET, 10n, 52n],
      [TOKEN, OTHER, 1_000n, 958n],
      [HUB, WALLET, 5n, 5n],
    ],
  );
  const { result, costs } = readReceipt(sealedTrade({}), record);
  expect(result).toEqual({ inAmount: 40_000n, outAmount: 42n });
  expect(costs).toEqual({ baseFee: FEE - 77n, priorityFee: 77n, tip: 900n, rentPaid: 0n, rentReturned: 0n });
});

test("what was in the wallet's own wrapped-SOL account, which the trade closed, is not part of the trade", () => {
  const wrapped = associatedTokenAddress(WALLET, SOL_MINT, TOKEN_PROGRAM);
  const wallet = [1_000_000n, 1_000_000n + 2_039_280n + 700n - 40_000n - FEE - 900n] as const;
  const bought = readReceipt(sealedTrade({}), recordOf(wallet, [[wrapped, 2_039_980n, 0n]])).result;
  expect(bought.inAmount).toBe(40_000n);
  const stays = readReceipt(sealedTrade({}), recordOf([9n, 9n - FEE - 907n], [[wrapped, 700n, 700n]])).result;
  expect(stays.inAmount).toBe(7n);
});

test("the wallet's token accounts are summed; a new one held nothing before", () => {
  const record = recordOf([9n, 9n - FEE - 900n], [], [[TOKEN, WALLET, 10n, 20n]]);
  const appeared = { accountIndex: 7, mint: TOKEN, owner: WALLET, amount: 3n };
  const { result } = readReceipt(sealedTrade({}), {
    ...record,
    postTokenBalances: [...record.postTokenBalances, appeared],
  });
  expect(result).toEqual({ inAmount: 0n, outAmount: 13n });
});

test("the rent of a new account is not part of the trade; what it holds beyond that is", () => {
  const creates = [{ address: VAULT, space: 0, rent: 500n, grows: false }];
  // 500 are rent; the other 60 are part of the trade.
  const record = recordOf([1_000_000n, 1_000_000n - 40_060n - 500n - FEE - 900n], [[VAULT, 0n, 560n]]);
  const { result, costs } = readReceipt(sealedTrade({ creates }), record);
  expect(costs.rentPaid).toBe(500n);
  expect(result.inAmount).toBe(40_060n);
});

test("no rent is paid for an account that existed, is not in the record, or was not created", () => {
  const creates = [{ address: VAULT, space: 0, rent: 500n, grows: false }];
  const paid = (others: Parameters<typeof recordOf>[1]) =>
    readReceipt(sealedTrade({ creates }), recordOf([1n, 1n], others)).costs.rentPaid;
  expect(paid([[VAULT, 500n, 560n]])).toBe(0n);
  expect(paid([[VAULT, 700n, 100n]])).toBe(0n);
  expect(paid([])).toBe(0n);
  expect(paid([[VAULT, 0n, 0n]])).toBe(0n);
  expect(paid([[VAULT, 0n, 499n]])).toBe(499n);
});

test("lamports that somebody sent to a new account's address before are not paid by the trade", () => {
  const creates = [{ address: VAULT, space: 0, rent: 500n, grows: false }];
  const record = recordOf([1_000_000n, 1_000_000n - 40_000n - 380n - FEE - 900n], [[VAULT, 120n, 500n]]);
  const { result, costs } = readReceipt(sealedTrade({ creates }), record);
  expect(costs.rentPaid).toBe(380n);
  expect(result.inAmount).toBe(40_000n);
});

test("the rent of an account that grows is not part of the trade; one that had grown before costs nothing", () => {
  const creates = [{ address: VAULT, space: 301, rent: 500n, grows: true }];
  const receipt = (after: bigint, others: Parameters<typeof recordOf>[1]) =>
    readReceipt(sealedTrade({ creates }), recordOf([1_000_000n, after], others));
  const grown = receipt(1_000_000n - 40_000n - 500n - FEE - 900n, [[VAULT, 7_000n, 7_500n]]);
  expect(grown.costs.rentPaid).toBe(500n);
  expect(grown.result.inAmount).toBe(40_000n);
  const before = receipt(1_000_000n - 40_000n - FEE - 900n, [[VAULT, 7_500n, 7_500n]]);
  expect(before.costs.rentPaid).toBe(0n);
  expect(before.result.inAmount).toBe(40_000n);
});

describe("a market's account that grows while the trade's lamports move through it", () => {
  const creates = [{ address: VAULT, space: 141, rent: 500n, grows: true, isTraded: true }];
  const transfers = (...sent: readonly bigint[]) => [
    { to: OTHER, lamports: 9n },
    ...sent.map((lamports) => ({ to: VAULT, lamports })),
  ];
  const sale = sealedTrade({ inMint: TOKEN, outMint: SOL_MINT, creates });
  const buy = sealedTrade({ creates });
  /** What a trade gets and pays, which moves the market's lamports by so much. */
  const told = (sealed: SealedTrade, change: bigint, gained: bigint, sent: TransactionRecord["transfers"]) => {
    const record = recordOf([1_000_000n, 1_000_000n + gained - FEE - 900n], [[VAULT, 90_000n, 90_000n + change]]);
    const { result, costs } = readReceipt(sealed, { ...record, transfers: sent });
    return [sealed === sale ? result.outAmount : result.inAmount, costs.rentPaid];
  };

  test("of a sale, all that was sent to it is rent", () => {
    expect(told(sale, 500n - 40_000n, 39_000n - 500n, transfers(500n))).toEqual([39_000n, 500n]);
    expect(told(sale, -40_000n, 39_000n, transfers())).toEqual([39_000n, 0n]);
  });

  test("of a purchase, what was sent beside its price is, in whatever order, also if the price is the same", () => {
    expect(told(buy, 40_500n, -41_500n, transfers(500n, 40_000n))).toEqual([41_000n, 500n]);
    expect(told(buy, 40_500n, -41_500n, transfers(40_000n, 500n))).toEqual([41_000n, 500n]);
    expect(told(buy, 1_000n, -1_100n, transfers(500n, 500n))).toEqual([600n, 500n]);
    expect(told(buy, 40_000n, -41_000n, transfers(40_000n))).toEqual([41_000n, 0n]);
    expect(told(buy, 500n, -600n, transfers(500n))).toEqual([600n, 0n]);
  });

  test("the chain's rent at landing counts, not that of the build", () => {
    expect(told(sale, 450n - 40_000n, 39_000n - 450n, transfers(450n))).toEqual([39_000n, 450n]);
  });

  test("if no node tells what was sent, the announced rent was", () => {
    expect(told(sale, 500n - 40_000n, 39_000n - 500n, undefined)).toEqual([39_000n, 500n]);
    expect(told(buy, 40_500n, -41_500n, undefined)).toEqual([41_000n, 500n]);
  });
});

test("a sale that closes its account: the returned rent is not part of the proceeds", () => {
  const sealed = sealedTrade({ inMint: TOKEN, outMint: SOL_MINT, closes: HELD });
  const record = recordOf(
    [1_000n, 1_000n + 70_000n + 2_039n - FEE - 900n],
    [[HELD, 2_039n, 0n]],
    [[TOKEN, WALLET, 42n, 0n]],
  );
  const { result, costs } = readReceipt(sealed, record);
  expect(costs.rentReturned).toBe(2_039n);
  expect(result).toEqual({ inAmount: 42n, outAmount: 70_000n });
});

test("an account that was not closed returns nothing", () => {
  const sealed = sealedTrade({ inMint: TOKEN, outMint: SOL_MINT, closes: HELD });
  const left = recordOf([1n, 1n], [[HELD, 2_039n, 2_039n]]);
  expect(readReceipt(sealed, left).costs.rentReturned).toBe(0n);
  expect(readReceipt(sealed, recordOf([1n, 1n])).costs.rentReturned).toBe(0n);
});

test("over two markets, the remainder of the mint between them is measured too", () => {
  const leg = { venue: "raydium_cpmm", market: address(), inAmount: 1n, outAmount: 1n };
  const route = [
    { ...leg, inMint: TOKEN, outMint: HUB },
    { ...leg, inMint: HUB, outMint: SOL_MINT },
  ];
  const record = recordOf(
    [1_000n, 1_000n + 70_000n - FEE - 900n],
    [],
    [
      [TOKEN, WALLET, 42n, 0n],
      [HUB, WALLET, 3n, 20n],
      [HUB, OTHER, 100n, 83n],
    ],
  );
  const { result } = readReceipt(sealedTrade({ inMint: TOKEN, outMint: SOL_MINT, route }), record);
  expect(result).toEqual({ inAmount: 42n, outAmount: 70_000n, remainders: [{ mint: expect.anything(), amount: 17n }] });
});
