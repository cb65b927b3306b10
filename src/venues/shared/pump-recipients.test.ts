import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import type { Account, AccountView } from "../../solana/account.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import { SOL_MINT, TOKEN_PROGRAM, USDC_MINT } from "../../solana/programs.ts";
import {
  buybackRecipientOf,
  feeRecipientOf,
  payableRecipients,
  recipientsIn,
  uncertainAccounts,
} from "./pump-recipients.ts";

const recipient = (number: number) => ({ wallet: Address.from(new Uint8Array(32).fill(number)) });
const listed = (...numbers: readonly number[]) => numbers.map(recipient);
const numberOf = ({ wallet }: ReturnType<typeof recipient>): number => wallet.bytes[0]!;

const COMMON = [1, 2, 3, 4, 5];
const TRADER = recipient(99).wallet;
const SALTS = Array.from({ length: 1 << 14 }, (_, salt) => salt);

test("both of Pump's programs are paid at the same recipient, of all that both know", () => {
  const [curves, pools] = [listed(...COMMON, 6, 7, 8), listed(...COMMON, 16, 17, 18)];
  for (const trader of [TRADER, ...COMMON.map((number) => recipient(number).wallet)]) {
    const chosen = SALTS.slice(0, 2_000).map((salt) =>
      [curves, pools].map((list) => numberOf(feeRecipientOf(list, salt, trader))),
    );
    for (const [curve, pool] of chosen) expect(curve).toBe(pool);
    const others = COMMON.filter((number) => recipient(number).wallet !== trader);
    expect(new Set(chosen.map(([curve]) => curve))).toEqual(new Set(others));
  }
});

test("a program that lists fewer is paid at one of those", () => {
  const places = [0, 1, 2, 3].map((salt) => numberOf(feeRecipientOf(listed(1, 2), salt, TRADER)));
  expect(places).toEqual([1, 2, 1, 2]);
});

test("a wallet that Pump lists trades with another recipient, unless it is the only one", () => {
  const list = listed(1, 2, 3, 4, 5, 6, 7, 8);
  for (const { wallet } of list) {
    const paid = SALTS.flatMap((salt) => [feeRecipientOf(list, salt, wallet), buybackRecipientOf(list, salt, wallet)]);
    expect(paid.filter((chosen) => chosen.wallet === wallet)).toEqual([]);
  }
  const alone = recipient(1);
  expect(feeRecipientOf([alone], 0, alone.wallet)).toBe(alone);
});

test("recipients without an open account for a token are left out, but of SOL and USDC all have one", () => {
  const wallets = [1, 2, 3, 4].map((number) => recipient(number).wallet);
  const token = recipient(50).wallet;
  const paidIn = (mint: Address) =>
    wallets.map((address) => ({
      wallet: address,
      tokenAccount: associatedTokenAccount(address, mint, TOKEN_PROGRAM).address,
    }));
  const [first, second, third, fourth] = uncertainAccounts(wallets, token, TOKEN_PROGRAM);
  const held = new Map<Address, Account | null>([
    [first!, tokenAccountAt(first!, 1)],
    [second!, null],
    [third!, tokenAccountAt(third!, 2)],
    [fourth!, { ...tokenAccountAt(fourth!, 1), data: new Uint8Array(0) }],
  ]);
  const have: AccountView = { get: (address) => held.get(address) };
  expect(payableRecipients(paidIn(token), token, have)).toEqual(paidIn(token).slice(0, 1));
  for (const kept of [SOL_MINT, USDC_MINT]) {
    expect(uncertainAccounts(wallets, kept, TOKEN_PROGRAM)).toEqual([]);
    expect(payableRecipients(paidIn(kept), kept, have)).toHaveLength(4);
  }
});

test("all markets of a usual quote token share their recipients", () => {
  const wallets = [1, 2, 3].map((number) => recipient(number).wallet);
  const inSol = recipientsIn(wallets, SOL_MINT, TOKEN_PROGRAM);
  expect(recipientsIn(wallets, SOL_MINT, TOKEN_PROGRAM)).toBe(inSol);
  for (const mint of [SOL_MINT, USDC_MINT, recipient(50).wallet]) {
    const expected = wallets.map((wallet) => {
      const { address, bump } = associatedTokenAccount(wallet, mint, TOKEN_PROGRAM);
      return { wallet, tokenAccount: address, bumpSteps: 255 - bump };
    });
    expect(recipientsIn(wallets, mint, TOKEN_PROGRAM)).toEqual(expected);
  }
  const others = [...wallets];
  expect(recipientsIn(others, SOL_MINT, TOKEN_PROGRAM)).not.toBe(inSol);
});

/** @param state 1: open, 2: frozen */
function tokenAccountAt(address: Address, state: number): Account {
  const data = new Uint8Array(165);
  data[108] = state;
  return { address, owner: TOKEN_PROGRAM, lamports: 1n, data, executable: false, slot: 1n };
}
