import type { Address } from "../../../primitives/address.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
import { type BaseInstruction, readBaseInstruction } from "../base-instruction.ts";
import { addressWithSeed, tokenAccountAddress } from "../derived-address.ts";
import { findSwapTable } from "../match-swap.ts";
import type { MessageInstruction, ReadTransaction } from "../read-transaction.ts";
import { isTipAccount } from "../tip-accounts.ts";
import type { SwapTable } from "../venues/swap-table.ts";

const TOKEN_ACCOUNT_SIZE = 165n;

/** The accounts that a transaction opens for its payer, by what happens to them. */
interface Opened {
  /** Seeded accounts, which anyone could claim until they are initialized. */
  readonly seeded: ReadonlySet<Address>;
  readonly initialized: ReadonlySet<Address>;
  readonly closed: ReadonlySet<Address>;
}

/**
 * What in a transaction serves somebody other than its payer, although each instruction is of a kind that trades contain: no
 * trade of this service has it. By number of the instruction, counted from 0; why, in plain words.
 */
export function strangeParts(transaction: ReadTransaction): ReadonlyMap<number, string> {
  const payer = transaction.accounts[0]?.address;
  const parts = new Map<number, string>();
  if (payer === undefined) return parts;
  const opened = openedAccounts(transaction.instructions);
  for (const [index, instruction] of transaction.instructions.entries()) {
    const base = readBaseInstruction(instruction);
    const table = findSwapTable(instruction);
    const reason =
      base === undefined
        ? table && strangeSwap(table, instruction, payer, opened)
        : strangeInstruction(base, payer, opened);
    if (reason !== undefined) parts.set(index, reason);
  }
  return parts;
}

function openedAccounts(instructions: readonly MessageInstruction[]): Opened {
  const [seeded, initialized, closed] = [new Set<Address>(), new Set<Address>(), new Set<Address>()];
  for (const instruction of instructions) {
    const base = readBaseInstruction(instruction);
    if (base?.kind === "createWithSeed") seeded.add(base.account.address);
    if (base?.kind === "initializeTokenAccount") initialized.add(base.account.address);
    if (base?.kind === "closeTokenAccount") closed.add(base.account.address);
  }
  return { seeded, initialized, closed };
}

/** Why an instruction of the base chain is none of a trade's; undefined if it may be one. */
function strangeInstruction(base: BaseInstruction, payer: Address, opened: Opened): string | undefined {
  switch (base.kind) {
    case "computeUnitLimit":
    case "computeUnitPrice":
    case "loadedAccountsLimit":
    case "syncWrappedSol":
      return undefined;
    case "createTokenAccount":
      if (base.payer.address !== payer) return "another account pays for it";
      return base.owner === payer ? undefined : "the account is another owner's";
    case "transferLamports": {
      const wrapped = tokenAccountAddress(payer, SOL_MINT, TOKEN_PROGRAM);
      const isOwn = base.to.address === wrapped && opened.closed.has(wrapped);
      return isOwn || isTipAccount(base.to.address) ? undefined : "the SOL goes to an account outside a trade";
    }
    case "createWithSeed":
      return strangeAccount(base, payer, opened);
    case "initializeTokenAccount":
      if (base.owner !== payer) return "the account is another owner's";
      return opened.seeded.has(base.account.address) ? undefined : "it does not open that account";
    case "requireBalance":
      return opened.seeded.has(base.account.address) ? undefined : "it does not open that account";
    case "closeTokenAccount":
      return base.to.address === payer && base.authority.address === payer ? undefined : "the SOL goes elsewhere";
  }
}

function strangeAccount(
  base: Extract<BaseInstruction, { kind: "createWithSeed" }>,
  payer: Address,
  { initialized, closed }: Opened,
): string | undefined {
  const { address } = base.account;
  if (base.owner !== TOKEN_PROGRAM || base.space !== TOKEN_ACCOUNT_SIZE) {
    return `the account belongs to the program ${base.owner}, and its SOL with it`;
  }
  if (base.payer.address !== payer || base.base !== payer) return "the account does not derive from who pays";
  if (address !== addressWithSeed(payer, base.seed, TOKEN_PROGRAM)) return "the account does not derive from who pays";
  if (!initialized.has(address)) return "the account is left for anyone to claim";
  return closed.has(address) ? undefined : "the account is left open with its SOL";
}

/** The mints that a swap names: none on some venues, and none in some older instructions. */
export function namedMints(table: SwapTable, swap: MessageInstruction): readonly Address[] {
  return accountsAt(table, swap, "inMint", "outMint", "eitherMint").filter((mint) => mint !== undefined);
}

/** The accounts of a swap at places of these kinds; undefined for each that is missing. */
function accountsAt(
  { accounts: places }: SwapTable,
  { accounts }: MessageInstruction,
  ...kinds: readonly string[]
): readonly (Address | undefined)[] {
  return places.flatMap(({ rule }, index) => (kinds.includes(rule.kind) ? [accounts[index]?.address] : []));
}

/** Why a swap is none of a trade's: another account signs it, or its output goes elsewhere, as far as the bytes show. */
function strangeSwap(
  table: SwapTable,
  swap: MessageInstruction,
  payer: Address,
  { seeded }: Opened,
): string | undefined {
  const at = (kind: string) => accountsAt(table, swap, kind);
  if (at("wallet").some((address) => address !== payer)) return "another account signs it";
  const isUnset = ({ at: from, length }: SwapTable["zeros"][number]) =>
    swap.data.subarray(from, from + length).every((byte) => byte === 0);
  // With a price limit a swap may stop half-way, below an output that it names as exact.
  if (!table.zeros.every(isUnset)) return "it sets a price limit, a share or a list, which trades leave out";
  const mints = namedMints(table, swap);
  // Without its mints in the instruction, only the account's own data would show whose it is.
  if (mints.length === 0) return undefined;
  const own = new Set([payer, ...seeded]);
  for (const mint of [...mints, SOL_MINT]) {
    for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) own.add(tokenAccountAddress(payer, mint, program));
  }
  if (at("destination").some((address) => address !== undefined && !own.has(address))) {
    return "its output goes to another owner's account";
  }
  return at("source").some((address) => address !== undefined && !own.has(address))
    ? "it spends from another owner's account"
    : undefined;
}
