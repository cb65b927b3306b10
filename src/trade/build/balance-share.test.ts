import { describe, expect, test } from "vitest";
import { type AccountExtension, withExtensions } from "../../../test/support/extended-account.ts";
import { Address } from "../../primitives/address.ts";
import { viewOf } from "../../primitives/bytes.ts";
import { createRandom } from "../../primitives/random.ts";
import type { Account } from "../../solana/account.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { readBalanceShare } from "./balance-share.ts";
import { walletTokenAccount } from "./wallet-accounts.ts";

const random = createRandom(47);
const [WALLET, MINT, OTHER] = [random.bytes(32), random.bytes(32), random.bytes(32)].map((bytes) =>
  Address.from(bytes),
) as [Address, Address, Address];
const LAMPORTS = 2_039_280n;

interface Holding {
  readonly closeAuthority?: Address;
  /** Withheld transfer fees; makes it a Token-2022 account. */
  readonly withheld?: bigint;
  /** Makes it a Token-2022 account with these. */
  readonly extensions?: readonly AccountExtension[];
  /** Makes it an account of wrapped SOL. */
  readonly isNative?: boolean;
}

/** A share of a balance, which only a refresh reveals. */
function share(balance: bigint, percent: number, { closeAuthority, withheld, extensions, isNative }: Holding = {}) {
  const program = withheld === undefined && extensions === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
  const mint = { address: MINT, program, decimals: 6 } as Mint;
  const data = new Uint8Array(withheld === undefined ? 165 : 178);
  const view = viewOf(data);
  data.set(MINT.bytes);
  data.set(WALLET.bytes, 32);
  view.setBigUint64(64, balance, true);
  data[108] = 1;
  if (isNative === true) view.setUint32(109, 1, true);
  if (closeAuthority !== undefined) {
    view.setUint32(129, 1, true);
    data.set(closeAuthority.bytes, 133);
  }
  if (withheld !== undefined) {
    data[165] = 2;
    view.setUint16(166, 2, true);
    view.setUint16(168, 8, true);
    view.setBigUint64(170, withheld, true);
  }
  const { address } = walletTokenAccount(WALLET, mint)!;
  const held = extensions === undefined ? data : withExtensions(data, extensions);
  const account: Account = { address, owner: program, lamports: LAMPORTS, data: held, executable: false, slot: 1n };
  let isRead = false;
  const markets = {
    async refresh() {
      isRead = true;
    },
    account: () => (isRead ? account : undefined),
  };
  return readBalanceShare(markets, WALLET, mint, percent);
}

describe("a share of the wallet's balance", () => {
  test("is refused while the balance is not known: unknown is not none", async () => {
    const mint = { address: MINT, program: TOKEN_PROGRAM, decimals: 6 } as Mint;
    const markets = { refresh: async () => {}, account: () => undefined };
    await expect(readBalanceShare(markets, WALLET, mint, 100)).rejects.toMatchObject({
      code: "STATE_STALE",
      retryable: true,
    });
  });

  test.each([
    [1_000n, 50, 500n],
    [999n, 50, 499n],
    [1_000_000_000n, 33.3, 333_000_000n],
    [10_000_000_000n, 0.07, 7_000_000n],
    [100_000_000_000n, 0.000000001, 1n],
    [(1n << 64n) - 1n, 99.999999999, 18_446_744_073_525_084_174n],
  ])("of %i, %f %% are %i: decimals are exact, and base units are not split", async (held, percent, amount) => {
    expect(await share(held, percent)).toEqual({ amount, emptied: undefined });
  });

  test("of 100 % empties the account, which can be closed", async () => {
    const { amount, emptied } = await share(1_001n, 100);
    expect(amount).toBe(1_001n);
    expect(emptied?.lamports).toBe(LAMPORTS);
    expect((await share(1_001n, 100, { closeAuthority: WALLET })).emptied).toBeDefined();
    expect((await share(1_001n, 100, { withheld: 0n })).emptied).toBeDefined();
  });

  test("of 100 % keeps an account of Token-2022's wrapped SOL: most of its lamports leave with its tokens", async () => {
    expect(await share(1_001n, 100, { isNative: true })).toEqual({ amount: 1_001n, emptied: undefined });
  });

  test("of 100 % keeps an account that another wallet may close, or that holds withheld fees", async () => {
    expect(await share(1_001n, 100, { closeAuthority: OTHER })).toEqual({ amount: 1_001n, emptied: undefined });
    expect(await share(1_001n, 100, { withheld: 1n })).toEqual({ amount: 1_001n, emptied: undefined });
  });

  test("of 100 % keeps an account with a confidential balance, which the token program does not close", async () => {
    const confidential = (byte: number): AccountExtension => [5, new Uint8Array(295).fill(byte, 100, 101)];
    expect((await share(1_001n, 100, { extensions: [confidential(0)] })).emptied).toBeDefined();
    expect(await share(1_001n, 100, { extensions: [confidential(1)] })).toEqual({ amount: 1_001n, emptied: undefined });
  });

  test("is refused if it is nothing, or of SOL", async () => {
    await expect(share(0n, 100)).rejects.toMatchObject({ code: "INSUFFICIENT_TOKEN_BALANCE" });
    await expect(share(1n, 99)).rejects.toMatchObject({ message: expect.stringContaining("too little") });
    const sol = { address: SOL_MINT, program: TOKEN_PROGRAM, decimals: 9 } as Mint;
    const none = { account: () => undefined, refresh: async () => {} };
    await expect(readBalanceShare(none, WALLET, sol, 50)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
