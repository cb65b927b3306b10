import type { Principal } from "../accounts/port.ts";
import type { Priority } from "../chain/port.ts";
import type { Markets } from "../market/port.ts";
import type { Address } from "../primitives/address.ts";
import { setComputeUnitLimit, setComputeUnitPrice, setLoadedAccountsDataSizeLimit } from "../solana/compute-budget.ts";
import type { Instruction } from "../solana/instruction.ts";
import type { Mint } from "../solana/mint.ts";
import { type DerivedAddress, tokenAccountOf } from "../solana/pda-memo.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../solana/programs.ts";
import { closeTokenAccount, createTokenAccount } from "../solana/token-instructions.ts";
import { openWrappedSol, seededAddress } from "../solana/wrapped-sol.ts";
import type { Intent } from "./intent.ts";
import type { Route } from "./route.ts";

/** An account the transaction brings into being at the wallet's expense, and the rent it will hold. */
export interface CreatedAccount {
  readonly address: Address;
  /** Data bytes; 0 for a bare system account, of which only the rent share is rent. */
  readonly space: number;
  readonly rent: bigint;
}

/** The wallet's own accounts a trade touches. */
export interface WalletAccounts {
  readonly wallet: Address;
  /** Associated token account of each side; undefined on the SOL side. */
  readonly source: DerivedAddress | undefined;
  readonly destination: DerivedAddress | undefined;
}

/** The instructions of a trade, in order, without the compute budget. */
export interface Assembly {
  readonly instructions: readonly Instruction[];
  /** Upper bound of what they use, without margin. */
  readonly computeUnits: number;
  /** Accounts that may come into being, with their rent. Only those not known to exist. */
  readonly creates: readonly CreatedAccount[];
  /** Lamports the wallet must have while the transaction runs, and gets back: rent of the passing wrapped-SOL account. */
  readonly passingRent: bigint;
}

/** Where the wallet keeps both sides of a trade. */
export function walletAccounts(principal: Principal, inMint: Mint, outMint: Mint): WalletAccounts {
  const { wallet } = principal;
  const held = (mint: Mint) =>
    mint.address === SOL_MINT ? undefined : tokenAccountOf(wallet, mint.address, mint.program);
  return { wallet, source: held(inMint), destination: held(outMint) };
}

/**
 * Units each fixed piece uses, measured on the programs that run on mainnet since p-token.
 * The associated-token program searches its bump: one step per value below 255.
 */
export const UNITS = {
  computeBudget: 150,
  openWrappedSol: 150 + 250,
  closeWrappedSol: 150,
  createTokenAccount: { base: 11_000, token2022: 20_000, perBump: 1_500 },
} as const;

interface AssemblyContext {
  readonly markets: Pick<Markets, "account">;
  readonly rentExemption: (space: number) => bigint;
  /** A number that differs between builds: spreads fee recipients, names the passing account. */
  readonly nonce: number;
}

/**
 * The instructions the trade needs and nothing else: the receiving token account where it may be missing, SOL wrapped and
 * unwrapped where the venue needs it, and the swap.
 */
export function assemble(intent: Intent, route: Route, accounts: WalletAccounts, context: AssemblyContext): Assembly {
  const { hot, quote } = route.best;
  const { wallet } = accounts;
  const instructions: Instruction[] = [];
  const creates: CreatedAccount[] = [];
  const existing = (address: Address) => context.markets.account(address) != null;
  let computeUnits = 0;

  if (accounts.destination !== undefined && !existing(accounts.destination.address)) {
    const { address, bump } = accounts.destination;
    const { program } = intent.outMint;
    const units = UNITS.createTokenAccount;
    instructions.push(createTokenAccount(address, wallet, intent.outMint.address, program));
    computeUnits += (program === TOKEN_2022_PROGRAM ? units.token2022 : units.base) + units.perBump * (255 - bump);
    const space = tokenAccountSpace(intent.outMint);
    creates.push({ address, space, rent: context.rentExemption(space) });
  }

  const solIn = accounts.source === undefined;
  const solOut = accounts.destination === undefined;
  const wraps = (solIn || solOut) && !hot.market.nativeSol;
  const seed = `tw${context.nonce.toString(36)}`;
  const wrapped = wraps ? seededAddress(wallet, seed, TOKEN_PROGRAM) : nativePlace(accounts);
  const rent = wraps ? context.rentExemption(TOKEN_ACCOUNT_BYTES) : 0n;
  if (wraps) {
    const lamports = solIn ? (intent.mode === "exactIn" ? route.inAmount : route.threshold) : 0n;
    instructions.push(...openWrappedSol({ account: wrapped, wallet, seed, lamports, rent }));
    computeUnits += UNITS.openWrappedSol;
  }
  const leg = hot.venue.swap(hot.state, quote, {
    wallet,
    source: accounts.source?.address ?? wrapped,
    destination: accounts.destination?.address ?? wrapped,
    threshold: route.threshold,
    salt: context.nonce,
  });
  instructions.push(...leg.instructions);
  computeUnits += leg.computeUnits;
  for (const { address, space } of leg.creates) {
    if (!existing(address)) creates.push({ address, space, rent: context.rentExemption(space) });
  }
  if (wraps) {
    instructions.push(closeTokenAccount(wrapped, wallet, TOKEN_PROGRAM));
    computeUnits += UNITS.closeWrappedSol;
  }
  return { instructions, computeUnits, creates, passingRent: rent };
}

const TOKEN_ACCOUNT_BYTES = 165;

/** Data bytes of an associated token account of the mint: Token-2022 marks its owner immutable, and keeps withheld fees. */
function tokenAccountSpace(mint: Mint): number {
  if (mint.program !== TOKEN_2022_PROGRAM) return TOKEN_ACCOUNT_BYTES;
  return TOKEN_ACCOUNT_BYTES + 1 + 4 + (mint.transferFees === undefined ? 0 : 12);
}

/** Where the venue moves lamports, its instruction still names the wallet's wrapped-SOL address. */
function nativePlace({ wallet }: WalletAccounts): Address {
  return tokenAccountOf(wallet, SOL_MINT, TOKEN_PROGRAM).address;
}

/** What is asked of the scheduler for a priority level. */
export interface Budget {
  readonly computeUnitLimit: number;
  readonly priceMicroLamports: bigint;
  readonly loadedBytesLimit: number;
}

/** The compute-budget instructions, first in every message. */
export function budgetInstructions(budget: Budget): readonly Instruction[] {
  return [
    setComputeUnitLimit(budget.computeUnitLimit),
    setComputeUnitPrice(budget.priceMicroLamports),
    setLoadedAccountsDataSizeLimit(budget.loadedBytesLimit),
  ];
}

export type PriceOf = (level: Priority, writable: readonly Address[]) => bigint;
