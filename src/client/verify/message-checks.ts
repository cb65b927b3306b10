import type { Address } from "../../primitives/address.ts";
import { formatAmount } from "../../primitives/amount.ts";
import { baseProgramName } from "./base-instruction.ts";
import type { ReadTransaction } from "./read-transaction.ts";
import { MOST_TOKEN_ACCOUNT_RENT, mostRent } from "./rent.ts";
import type { TradeExpectation } from "./trade-expectation.ts";

const MICRO = 1_000_000n;

/** Reports a problem and the account it concerns. */
export type Refuse = (reason: string, account?: Address) => void;

/** What the instructions of a message pay for priority. */
export interface PriorityPaid {
  readonly units: number | undefined;
  /** Micro-lamports per compute unit. */
  readonly unitPrice: bigint | undefined;
  /** Lamports. */
  readonly tips: bigint;
}

/** Only the wallet signs and pays the fee, and no signature is filled in yet. */
export function checkSigners(transaction: ReadTransaction, wallet: Address, refuse: Refuse): void {
  const { accounts, requiredSignatures, signatures } = transaction;
  if (accounts[0]?.address !== wallet) refuse("another account pays the fee", accounts[0]?.address);
  if (requiredSignatures !== 1) {
    refuse(`it requires ${requiredSignatures} signatures; only this wallet may sign`, accounts[1]?.address);
  }
  if (accounts[0]?.writable === false) refuse("its fee payer is read-only", accounts[0].address);
  if (signatures.length !== 1) refuse(`it has ${signatures.length} signature slots instead of 1`);
  if (signatures.some((signature) => signature.some((byte) => byte !== 0))) {
    refuse("it already contains a signature");
  }
}

/** Compute unit price × limit plus tips, as the runtime charges them, stay within the cap and match the response. */
export function checkPriority(
  { config }: ReadTransaction,
  { maxPriorityLamports, tipLamports, announced }: TradeExpectation,
  { units, unitPrice, tips }: PriorityPaid,
  refuse: Refuse,
): void {
  if (config !== undefined && unitPrice !== undefined) refuse("it sets its priority fee twice");
  if (units === undefined && unitPrice !== undefined) {
    refuse("it pays a priority fee without a compute unit limit");
  }
  const fee = (BigInt(units ?? 0) * (unitPrice ?? 0n) + MICRO - 1n) / MICRO + (config?.priorityFeeLamports ?? 0n);
  if (fee + tips > maxPriorityLamports) {
    refuse(`priority costs ${inSol(fee + tips)} SOL, more than the limit of ${inSol(maxPriorityLamports)} SOL`);
  }
  if (tips !== tipLamports) refuse(`it tips ${inSol(tips)} SOL, but the service announced ${inSol(tipLamports)} SOL`);
  const { priority = fee + tips, priorityFee = fee } = announced ?? {};
  if (priority !== fee + tips || priorityFee !== fee) {
    refuse(`priority costs ${inSol(fee + tips)} SOL, but the service announced ${inSol(priority)} SOL`);
  }
  if (config?.heapSize !== undefined) refuse("it requests a larger heap, which no trade needs");
}

/** Less than any venue's swap takes. Compute units. */
const LEAST_UNITS = 10_000;
/** Less than a venue's program and the token program have together. Bytes. */
const LEAST_LOADED_BYTES = 512 * 1024;

/** The transaction's limits are high enough to run: one that exceeds them pays for priority and trades nothing. */
export function checkRoom(
  { config }: ReadTransaction,
  swaps: number,
  given: { readonly units: number | undefined; readonly loadedBytes: number | undefined },
  refuse: Refuse,
): void {
  if (config !== undefined && Object.values(given).some((limit) => limit !== undefined)) {
    refuse("it sets its budget by instruction beside the header of version 1");
  }
  if (config !== undefined && (config.computeUnitLimit === undefined || config.loadedAccountsLimit === undefined)) {
    refuse("its header states no limit on compute units or on bytes of accounts");
  }
  for (const units of [given.units, config?.computeUnitLimit]) {
    if (units !== undefined && units < swaps * LEAST_UNITS) {
      refuse(`its limit of ${units} compute units is too low for ${swaps} ${swaps === 1 ? "swap" : "swaps"}`);
    }
  }
  for (const bytes of [given.loadedBytes, config?.loadedAccountsLimit]) {
    if (bytes !== undefined && bytes < LEAST_LOADED_BYTES) {
      refuse(`its limit of ${bytes} bytes of accounts is too low for any trade`);
    }
  }
}

/**
 * The rent that the service announced is at most that of the accounts which the trade may create, and those of mints between markets,
 * which the order does not name, bind no more of it than the caller allows.
 * @param middles how many accounts of such mints the trade may create, among its token accounts
 */
export function checkRent(
  { announced, legs, maxMiddleRentLamports }: TradeExpectation,
  tokenAccounts: number,
  middles: number,
  refuse: Refuse,
): void {
  const venues = legs.map(({ venue }) => venue);
  const rent = announced?.rentPaid ?? 0n;
  if (rent > mostRent(tokenAccounts, venues)) {
    refuse(`the service announced ${inSol(rent)} SOL of rent, more than that of the accounts it creates`);
  }
  const bound = BigInt(middles) * MOST_TOKEN_ACCOUNT_RENT;
  if (bound > (maxMiddleRentLamports ?? bound)) {
    refuse(
      `rent between markets costs ${inSol(bound)} SOL, more than the limit of ${inSol(maxMiddleRentLamports!)} SOL`,
    );
  }
}

/**
 * Every account has a purpose, and every writable account needs to be writable.
 * @param named indices of accounts that an instruction uses
 * @param written indices of accounts that a verified instruction may write
 */
export function checkRights(
  { accounts, instructions }: ReadTransaction,
  named: ReadonlySet<number>,
  written: ReadonlySet<number>,
  refuse: Refuse,
): void {
  const programs = new Set(instructions.map(({ program }) => program));
  for (const { index, address, writable } of accounts) {
    if (index !== 0 && !named.has(index) && !programs.has(address)) {
      refuse("it lists an account that no instruction uses", address);
    }
    if (writable && !written.has(index)) refuse("it makes an account writable that the trade only reads", address);
    if (writable && (programs.has(address) || baseProgramName(address) !== undefined)) {
      refuse("it makes a program writable", address);
    }
  }
}

/** Lamports as a decimal amount of SOL. */
export function inSol(lamports: bigint): string {
  return formatAmount(lamports, 9);
}
