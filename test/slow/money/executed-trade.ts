import { getTransactionDecoder } from "@solana/kit";
import { FailedTransactionMetadata, type TransactionMetadata } from "litesvm";
import type { LamportTransfer, TransactionRecord } from "../../../src/chain/port.ts";
import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { type ReadTransaction, readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { Address } from "../../../src/primitives/address.ts";
import { equalBytes, readU64, viewOf } from "../../../src/primitives/bytes.ts";
import type { Account } from "../../../src/solana/account.ts";
import { COMPUTE_BUDGET_PROGRAM, SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import { isTokenAccount } from "../../../src/solana/token/token-account.ts";
import type { SealedTrade } from "../../../src/trade/build/token/sealed-trade.ts";
import { failedOutcome } from "../../../src/trade/submit/outcome/landed-failure.ts";
import { readReceipt } from "../../../src/trade/submit/outcome/receipt.ts";
import type { BuiltTrade, TradeRequest } from "../../../src/trade/trade.ts";
import { venues } from "../../../src/venues/registry.ts";
import type { Svm } from "../../support/svm.ts";
import { forOlderAmm } from "../client/world-builds.ts";

/** What happens between a build and its landing: nothing, something that may make it fail, or something that must not. */
export type Disturbance = "none" | "market" | "own" | "strangers";

/** After a code: tokens had arrived in the account that a sale closes, an account that a trade relied on was closed, or it ran out of units. */
export const AFTER_DEPOSIT = " after a deposit,";
export const WITHOUT_ACCOUNT = " without an account,";
export const OUT_OF_UNITS = " out of units,";

type Held = readonly (Account | null)[];

/** What a transaction did, by its accounts. */
interface Execution {
  readonly accounts: readonly Address[];
  readonly before: Held;
  readonly after: Held;
  readonly transfers: readonly LamportTransfer[];
}

/**
 * Executes a built trade and holds what was told against what the chain has: the estimates, the costs, the receipt that a submit would
 * measure, and each account of the wallet. @returns what differs, in words
 *
 * @param since what happened since the build: after another trade amounts keep what the build allows at worst, and rent does after
 * anything
 */
export function executeAndJudge(
  svm: Svm,
  built: BuiltTrade,
  sealed: SealedTrade,
  order: Pick<TradeRequest, "mode" | "amountRaw">,
  since: Disturbance,
): readonly string[] {
  // An older form of the bytes has its accounts in another order.
  const wire = forOlderAmm(built.unsignedTransaction);
  const transaction = readTransaction(wire);
  const accounts = transaction.accounts.map(({ address }) => address);
  const read = (): Held => accounts.map((address) => svm.get(address));
  const before = read();
  const done = svm.inner.sendTransaction(getTransactionDecoder().decode(wire));
  if (done instanceof FailedTransactionMetadata) {
    const execution = { accounts, before, after: before, transfers: [] };
    return [`fails: ${toldOf(svm, done, wire, sealed, execution)} ${reasonOf(done)}`];
  }
  const faults: string[] = [];
  const after = read();
  const units = Number(done.computeUnitsConsumed());
  const limit = unitLimit(transaction);
  if (units > limit) faults.push(`used ${units} units of ${limit}`);
  const transfers = transfersOf(done, accounts);
  return [...faults, ...differences(built, sealed, order, since, { accounts, before, after, transfers })];
}

/** Executes a built trade and keeps the result. @returns false if it fails */
export function executed(svm: Svm, { unsignedTransaction }: BuiltTrade): boolean {
  const transaction = getTransactionDecoder().decode(forOlderAmm(unsignedTransaction));
  return !(svm.inner.sendTransaction(transaction) instanceof FailedTransactionMetadata);
}

/** Why a built trade would fail now; undefined if it would not. */
export function simulated(svm: Svm, { unsignedTransaction }: BuiltTrade): string | undefined {
  const done = svm.inner.simulateTransaction(getTransactionDecoder().decode(forOlderAmm(unsignedTransaction)));
  return done instanceof FailedTransactionMetadata ? `fails: ${reasonOf(done)}` : undefined;
}

function reasonOf(failed: FailedTransactionMetadata): string {
  const told = failed
    .meta()
    .logs()
    .filter((line) => !/^Program data|invoke|success|consumed/.test(line));
  return `${failed.toString().slice(0, 120)} | ${told.slice(-5).join(" / ").slice(0, 500)}`;
}

/** The code that a submit would answer, and what it would tell of the wallet's own accounts, if the chain bears that out. */
function toldOf(
  svm: Svm,
  failed: FailedTransactionMetadata,
  wire: Uint8Array,
  sealed: SealedTrade,
  execution: Execution,
): string {
  const programs = readTransaction(wire).instructions.map(({ program }) => program);
  const record = { ...recordOf(execution, 0n), error: errorOf(failed), logs: failed.meta().logs() };
  const outcome = failedOutcome({ signature: "money", programs }, { record, witnesses: 1 }, venues, sealed);
  if (outcome.kind !== "failed") return outcome.kind;
  const details = outcome.facts.details as Partial<Record<"account" | "arrivedRaw" | "mint", string>>;
  if (
    outcome.message.startsWith("The trade took more compute units") &&
    record.logs.some((line) => EXCEEDED.test(line))
  )
    return `${outcome.code}${OUT_OF_UNITS}`;
  return `${outcome.code}${changeBorneOut(svm, details, sealed, execution)}`;
}

const EXCEEDED = /^Program \w+ failed: (exceeded CUs meter|Computational budget exceeded)/;

function changeBorneOut(
  svm: Svm,
  told: Partial<Record<"account" | "arrivedRaw" | "mint", string>>,
  { wallet, closes, creates, inMint, route }: SealedTrade,
  { accounts, before }: Execution,
): string {
  if (told.account !== undefined) {
    if (closes === undefined || told.account !== `${closes}`) return "";
    const sold = route.reduce((sum, leg) => (leg.inMint === inMint ? sum + leg.inAmount : sum), 0n);
    const arrived = readU64(before[accounts.indexOf(closes)]!.data, 64) - sold;
    return arrived > 0n && told.arrivedRaw === `${arrived}` ? AFTER_DEPOSIT : "";
  }
  if (told.mint === undefined) return "";
  const mint = Address.of(told.mint);
  const address = tokenAccountAddress(wallet, mint, svm.get(mint)!.owner);
  const isClosed = accounts.includes(address) && before[accounts.indexOf(address)] === null;
  return isClosed && creates.every((created) => created.address !== address) ? WITHOUT_ACCOUNT : "";
}

/** As a node says it. */
function errorOf(failed: FailedTransactionMetadata): unknown {
  const [, index, number] = /InstructionError\((\d+), (?:Custom\((\d+)\))?/.exec(failed.toString()) ?? [];
  return index === undefined
    ? failed.toString()
    : { InstructionError: [Number(index), number === undefined ? "Failed" : { Custom: Number(number) }] };
}

/** What a built trade told that balances contradict. */
function differences(
  built: BuiltTrade,
  sealed: SealedTrade,
  { mode, amountRaw }: Pick<TradeRequest, "mode" | "amountRaw">,
  since: Disturbance,
  execution: Execution,
): readonly string[] {
  const { accounts, before, after } = execution;
  const { estimates, costs, inMint, outMint } = built;
  const { wallet } = sealed;
  const faults: string[] = [];
  const same = (what: string, told: bigint, was: bigint): void => {
    if (told !== was) faults.push(`${what}: told ${told}, was ${was}`);
  };
  const fee = costs.baseFee + costs.priorityFee;
  const { result, costs: paid } = readReceipt(sealed, recordOf(execution, fee));
  if (since === "none" || since === "strangers") {
    same("input of the receipt", estimates.inAmount, result.inAmount);
    same("output of the receipt", estimates.outAmount, result.outAmount);
  }
  if (since === "none") {
    same("rent paid", costs.rentPaid, paid.rentPaid);
    same("rent returned", costs.rentReturned, paid.rentReturned);
    const remainders = new Map((estimates.remainders ?? []).map(({ mint, amount }) => [mint, amount]));
    for (const { mint, amount } of result.remainders ?? [])
      same(`remainder of ${mint}`, remainders.get(mint) ?? 0n, amount);
  }
  // A market without exact outputs may give more than was ordered.
  const [mostIn, leastOut] =
    mode === "exactIn" ? [estimates.inAmount, estimates.threshold] : [estimates.threshold, BigInt(amountRaw!)];
  if (result.inAmount > mostIn) faults.push(`took ${result.inAmount}, more than ${mostIn}`);
  if (result.outAmount < leastOut) faults.push(`gave ${result.outAmount}, less than ${leastOut}`);
  if (paid.rentPaid > costs.rentPaid) faults.push(`rent of ${paid.rentPaid}, more than ${costs.rentPaid}`);
  const left = new Map((result.remainders ?? []).map(({ mint, amount }) => [mint, amount]));
  for (const [mint, amount] of left) if (amount < 0n) faults.push(`${-amount} of ${mint} leave the wallet`);
  const expected = (mint: Address): bigint =>
    (mint === outMint ? result.outAmount : 0n) - (mint === inMint ? result.inAmount : 0n) + (left.get(mint) ?? 0n);
  const lamports = (held: Held): bigint => held[0]?.lamports ?? 0n;
  const [unwrapped, wrapped] = unwrappedBeside(wallet, execution);
  const net = expected(SOL_MINT) - fee - costs.tip - paid.rentPaid + paid.rentReturned + unwrapped;
  same("lamports of the wallet", net, lamports(after) - lamports(before));
  for (const mint of ownMints(wallet, [...before, ...after])) {
    const change = tokensOf(wallet, mint, after) - tokensOf(wallet, mint, before);
    same(`tokens of ${mint}`, mint === SOL_MINT ? -wrapped : expected(mint), change);
  }
  for (const [index, address] of accounts.entries()) {
    if (address === wallet || before[index] !== null || after[index] === null) continue;
    if (!sealed.creates.some((created) => created.address === address)) faults.push(`creates ${address}, untold`);
  }
  return [...faults, ...changedRights(wallet, before, after)];
}

/** Lamports and wrapped SOL that others left in the wallet's own wrapped-SOL account, if the trade closed it. */
function unwrappedBeside(wallet: Address, { accounts, before, after }: Execution): readonly [bigint, bigint] {
  const index = accounts.indexOf(tokenAccountAddress(wallet, SOL_MINT, TOKEN_PROGRAM));
  const held = before[index];
  if (held == null || after[index] !== null) return [0n, 0n];
  return [held.lamports, isTokenAccount(held) ? readU64(held.data, 64) : 0n];
}

/** Bytes of a token account that say whose it is, who else may spend from it, its state, and who may close it. */
const RIGHTS = [
  [32, 64],
  [72, 109],
  [121, 165],
] as const;

/** What may be done with the wallet's accounts, and by whom, stays as it was. */
function changedRights(wallet: Address, before: Held, after: Held): string[] {
  return before.flatMap((account, index) => {
    const left = after[index];
    if (account === null || left == null || !isOwn(wallet, account) || !isTokenAccount(left)) return [];
    const isSame = RIGHTS.every(([from, to]) =>
      equalBytes(account.data.subarray(from, to), left.data.subarray(from, to)),
    );
    return isSame ? [] : [`others have rights over ${account.address}, or its state has changed`];
  });
}

const isOwn = (wallet: Address, account: Account): boolean =>
  isTokenAccount(account) && Address.from(account.data, 32) === wallet;

function ownMints(wallet: Address, held: Held): Set<Address> {
  return new Set(
    held.filter((account) => account !== null && isOwn(wallet, account)).map((one) => Address.from(one!.data, 0)),
  );
}

function tokensOf(wallet: Address, mint: Address, held: Held): bigint {
  let sum = 0n;
  for (const account of held)
    if (account !== null && isOwn(wallet, account) && Address.from(account.data, 0) === mint)
      sum += readU64(account.data, 64);
  return sum;
}

/** The system program's transfer: its number in four bytes, then lamports. */
const TRANSFER = 2;

/** Lamports that programs sent. */
function transfersOf(done: TransactionMetadata, accounts: readonly Address[]): readonly LamportTransfer[] {
  return done.innerInstructions().flatMap((list) =>
    list.flatMap((inner) => {
      const instruction = inner.instruction();
      const data = instruction.data();
      if (accounts[instruction.programIdIndex()] !== SYSTEM_PROGRAM || data[0] !== TRANSFER) return [];
      return [{ to: accounts[instruction.accounts()[1]!]!, lamports: readU64(Uint8Array.from(data), 4) }];
    }),
  );
}

/** The chain's record of the transaction, as far as a receipt reads it. */
function recordOf({ accounts, before, after, transfers }: Execution, feeLamports: bigint): TransactionRecord {
  const balances = (held: Held) => held.map((account) => account?.lamports ?? 0n);
  const tokens = (held: Held) =>
    held.flatMap((account, accountIndex) => {
      if (account === null || !isTokenAccount(account)) return [];
      const [mint, owner] = [Address.from(account.data, 0), Address.from(account.data, 32)];
      return [{ accountIndex, mint, owner, amount: readU64(account.data, 64) }];
    });
  return {
    slot: 1n,
    error: null,
    feeLamports,
    accounts,
    preBalances: balances(before),
    postBalances: balances(after),
    preTokenBalances: tokens(before),
    postTokenBalances: tokens(after),
    transfers,
    logs: [],
    computeUnitsConsumed: undefined,
  };
}

/** The compute units that a transaction may use: version 1 has them in its header. */
function unitLimit({ config, instructions }: ReadTransaction): number {
  if (config?.computeUnitLimit !== undefined) return config.computeUnitLimit;
  const limit = instructions.find(({ program, data }) => program === COMPUTE_BUDGET_PROGRAM && data[0] === 2)!;
  return viewOf(limit.data).getUint32(1, true);
}
