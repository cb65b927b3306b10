import { Address } from "../../primitives/address.ts";
import { textBytes, writeU64 } from "../../primitives/bytes.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import { SOL_MINT, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { decodeMint } from "../../solana/token/mint.ts";
import { createTokenAccount } from "../../solana/token/token-instructions.ts";
import type { ShadowSvm } from "./shadow-svm.ts";

/** The wallet of all checks. Nobody has its key. */
export const SHADOW_WALLET = Address.from(textBytes("tradewire shadow execution's own"));
/** Far above what any check spends, and far below where sums of lamports overflow. */
const LAMPORTS = 1n << 61n;
const AMOUNT_OFFSET = 64;
const NO_DATA = new Uint8Array(0);

/** Gives the wallet its SOL. */
export function fundWallet(svm: ShadowSvm): void {
  svm.put({ address: SHADOW_WALLET, owner: SYSTEM_PROGRAM, lamports: LAMPORTS, data: NO_DATA, executable: false });
}

/** Where the wallet keeps a mint. @throws TypeError if the account in `svm` is no mint */
export function walletAccountOf(svm: ShadowSvm, mint: Address): Address {
  const account = svm.get(mint);
  if (account === null) throw new TypeError(`there is no mint at ${mint}`);
  return associatedTokenAccount(SHADOW_WALLET, mint, decodeMint(account).program).address;
}

/**
 * Opens the wallet's account of a mint, as the deployed programs do it: extensions of the mint decide its form.
 * @returns why it cannot be opened, or undefined
 */
export function openWalletAccount(svm: ShadowSvm, mint: Address): string | undefined {
  const address = walletAccountOf(svm, mint);
  const program = decodeMint(svm.get(mint)!).program;
  const failure = svm.keep(SHADOW_WALLET, [createTokenAccount(address, SHADOW_WALLET, mint, program)]);
  if (failure !== undefined) return `the wallet's account of ${mint} cannot be opened: ${failure}`;
  return undefined;
}

/** Sets what the wallet's open account of a mint holds. */
export function setWalletTokens(svm: ShadowSvm, mint: Address, amount: bigint): void {
  const account = svm.get(walletAccountOf(svm, mint))!;
  const data = Uint8Array.from(account.data);
  writeU64(data, AMOUNT_OFFSET, amount);
  const rent = svm.rentExemption(data.length);
  // Wrapped SOL lies in the account as lamports.
  svm.put({ ...account, data, lamports: mint === SOL_MINT ? rent + amount : rent });
}
