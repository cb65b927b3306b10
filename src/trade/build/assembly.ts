import type { Principal } from "../../accounts/port.ts";
import type { ChainHead } from "../../chain/port.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import {
  setComputeUnitLimit,
  setComputeUnitPrice,
  setLoadedAccountsDataSizeLimit,
} from "../../solana/compute-budget.ts";
import { associatedTokenAccount, type DerivedAddress } from "../../solana/derived-address.ts";
import type { Instruction } from "../../solana/instruction.ts";
import type { Mint } from "../../solana/mint.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { closeTokenAccount, createTokenAccount } from "../../solana/token-instructions.ts";
import { fillWrappedSol, openWrappedSol, seededAddress } from "../../solana/wrapped-sol.ts";
import type { Intent } from "../intent.ts";
import type { Route, RouteStep } from "../quote/route.ts";
import { nativeSha256 } from "./native-sha256.ts";

/** An account the transaction brings into being at the wallet's expense, and the rent it will hold. */
export interface CreatedAccount {
  readonly address: Address;
  /** Data bytes; 0 for a bare system account, of which only the rent share is rent. */
  readonly space: number;
  readonly rent: bigint;
}

/** A token account of the wallet. */
interface HeldAccount extends DerivedAddress {
  readonly mint: Address;
}

/** The wallet's own accounts a trade touches. */
export interface WalletAccounts {
  readonly wallet: Address;
  /** Associated token account of each side; undefined on the SOL side. */
  readonly source: HeldAccount | undefined;
  readonly destination: HeldAccount | undefined;
  /** Those a route passes through between two markets. */
  readonly passing: readonly { readonly mint: Mint; readonly account: HeldAccount }[];
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
  /** The wallet's token account that is closed, where one is, and the lamports that come back. */
  readonly closes: Intent["emptied"];
  /** Accounts of which it is not known yet whether they exist. They are taken for missing: `creates` may name too many. */
  readonly unknown: readonly Address[];
}

/** Where the wallet keeps both sides of a trade. */
export function walletAccounts({ wallet }: Pick<Principal, "wallet">, inMint: Mint, outMint: Mint): WalletAccounts {
  return { wallet, source: heldAccount(wallet, inMint), destination: heldAccount(wallet, outMint), passing: [] };
}

/** The wallet's associated token account of a mint; SOL has none, it is the wallet's own lamports. */
export function heldAccount(wallet: Address, mint: Mint): HeldAccount | undefined {
  if (mint.address === SOL_MINT) return undefined;
  const { address, bump } = associatedTokenAccount(wallet, mint.address, mint.program);
  return { address, bump, mint: mint.address };
}

/**
 * Units each fixed piece uses, measured on the programs that run on mainnet since p-token.
 * The associated-token program searches its bump: one step per value below 255.
 */
export const UNITS = {
  computeBudget: 150,
  transfer: 150,
  openWrappedSol: 150 + 250,
  closeWrappedSol: 130,
  fillWrappedSol: 150 + 210,
  closeEmptied: { base: 130, token2022: 1_750 },
  createTokenAccount: { base: 13_600, token2022: 19_000, perBump: 1_500 },
} as const;

/** What an assembly reads beside the trade itself, and how it is to wrap SOL. */
export interface AssemblyContext {
  readonly markets: Pick<Markets, "account">;
  readonly head: Pick<ChainHead, "rentExemption">;
  /** A number that differs between builds: spreads fee recipients, names the passing account. */
  readonly nonce: number;
  /**
   * Where SOL is wrapped. `seeded`: in an account of the transaction's own, which leaves wrapped SOL the wallet holds alone.
   * `associated`: in the wallet's own wrapped-SOL account, a hundred bytes shorter; only for wallets that have none.
   */
  readonly wrapping: "seeded" | "associated";
}

/**
 * The instructions the trade needs and nothing else: token accounts where they may be missing, SOL wrapped and unwrapped
 * where a venue needs it, and the swaps.
 */
export function assemble(intent: Intent, route: Route, accounts: WalletAccounts, context: AssemblyContext): Assembly {
  const parts = new AssemblyParts(accounts.wallet, context);
  if (accounts.destination !== undefined) parts.needTokenAccount(intent.outMint, accounts.destination);
  for (const { mint, account } of accounts.passing) parts.needTokenAccount(mint, account);
  for (const step of route.steps) {
    const { quote, hot } = step;
    if (quote.inMint === SOL_MINT) {
      if (hot.market.nativeSol) parts.closeWrapped();
      else parts.openWrapped(mostIn(step));
    } else if (quote.outMint === SOL_MINT && !hot.market.nativeSol) {
      parts.openWrapped(0n);
    }
    parts.swap(step, parts.placeOf(quote.inMint, accounts), parts.placeOf(quote.outMint, accounts));
  }
  parts.closeWrapped();
  // A market may leave a rest of an exact input unspent; the account is then not empty.
  if (intent.emptied !== undefined && route.inAmount === intent.amount)
    parts.closeEmptied(intent.inMint, intent.emptied);
  return parts.finish();
}

/** The most a step may take of its input. */
function mostIn({ quote, threshold }: RouteStep): bigint {
  return quote.mode === "exactIn" ? quote.inAmount : threshold;
}

/** Collects the instructions of one transaction and what they cost. */
class AssemblyParts {
  readonly #wallet: Address;
  readonly #context: AssemblyContext;
  readonly #instructions: Instruction[] = [];
  readonly #creates: CreatedAccount[] = [];
  readonly #unknown: Address[] = [];
  #computeUnits = 0;
  #passingRent = 0n;
  #wrapped: Address | undefined;
  #closes: Intent["emptied"];

  constructor(wallet: Address, context: AssemblyContext) {
    this.#wallet = wallet;
    this.#context = context;
  }

  /** Creates the wallet's token account unless it is known to be there. */
  needTokenAccount(mint: Mint, { address, bump }: DerivedAddress): void {
    if (this.#exists(address)) return;
    const units = UNITS.createTokenAccount;
    this.#instructions.push(createTokenAccount(address, this.#wallet, mint.address, mint.program));
    this.#computeUnits +=
      (mint.program === TOKEN_2022_PROGRAM ? units.token2022 : units.base) + units.perBump * (255 - bump);
    const space = tokenAccountSpace(mint);
    this.#creates.push({ address, space, rent: this.#context.head.rentExemption(space) });
  }

  /** Opens the passing wrapped-SOL account with `lamports` in it; one that is open already holds what the last swap put there. */
  openWrapped(lamports: bigint): void {
    if (this.#wrapped !== undefined) return;
    const rent = this.#context.head.rentExemption(TOKEN_ACCOUNT_BYTES);
    this.#passingRent = rent;
    if (this.#context.wrapping === "associated") {
      const { address, bump } = associatedTokenAccount(this.#wallet, SOL_MINT, TOKEN_PROGRAM);
      this.#instructions.push(...fillWrappedSol({ account: address, wallet: this.#wallet, lamports }));
      this.#computeUnits +=
        UNITS.createTokenAccount.base + UNITS.createTokenAccount.perBump * (255 - bump) + UNITS.fillWrappedSol;
      this.#wrapped = address;
      return;
    }
    const seed = `tw${this.#context.nonce.toString(36)}`;
    const account = seededAddress(this.#wallet, seed, TOKEN_PROGRAM, nativeSha256);
    this.#instructions.push(...openWrappedSol({ account, wallet: this.#wallet, seed, lamports, rent }));
    this.#computeUnits += UNITS.openWrappedSol;
    this.#wrapped = account;
  }

  /** Closes the passing wrapped-SOL account, where there is one: its SOL is the wallet's again. */
  closeWrapped(): void {
    if (this.#wrapped === undefined) return;
    this.#instructions.push(closeTokenAccount(this.#wrapped, this.#wallet, TOKEN_PROGRAM));
    this.#computeUnits += UNITS.closeWrappedSol;
    this.#wrapped = undefined;
  }

  /** Closes the token account that the swap emptied: its rent is the wallet's again. */
  closeEmptied({ program }: Mint, emptied: NonNullable<Intent["emptied"]>): void {
    this.#instructions.push(closeTokenAccount(emptied.address, this.#wallet, program));
    this.#computeUnits += program === TOKEN_2022_PROGRAM ? UNITS.closeEmptied.token2022 : UNITS.closeEmptied.base;
    this.#closes = emptied;
  }

  /** Where the wallet keeps a side of a swap. A venue that moves lamports still names the wallet's wrapped-SOL address. */
  placeOf(mint: Address, accounts: WalletAccounts): Address {
    if (mint === SOL_MINT)
      return this.#wrapped ?? associatedTokenAccount(this.#wallet, SOL_MINT, TOKEN_PROGRAM).address;
    const { source, destination, passing } = accounts;
    if (source?.mint === mint) return source.address;
    if (destination?.mint === mint) return destination.address;
    for (const { account } of passing) if (account.mint === mint) return account.address;
    throw new RangeError(`the trade does not touch ${mint}`);
  }

  swap({ hot, quote, threshold }: RouteStep, source: Address, destination: Address): void {
    const leg = hot.venue.swap(hot.state, quote, {
      wallet: this.#wallet,
      source,
      destination,
      threshold,
      salt: this.#context.nonce,
      exists: this.#exists,
    });
    this.#instructions.push(...leg.instructions);
    this.#computeUnits += leg.computeUnits;
    for (const { address, space } of leg.creates) {
      if (!this.#exists(address)) this.#creates.push({ address, space, rent: this.#context.head.rentExemption(space) });
    }
  }

  finish(): Assembly {
    return {
      instructions: this.#instructions,
      computeUnits: this.#computeUnits,
      creates: this.#creates,
      passingRent: this.#passingRent,
      closes: this.#closes,
      unknown: this.#unknown,
    };
  }

  readonly #exists = (address: Address): boolean => {
    const account = this.#context.markets.account(address);
    if (account === undefined) this.#unknown.push(address);
    return account != null;
  };
}

const TOKEN_ACCOUNT_BYTES = 165;

/** Data bytes of an associated token account of the mint: Token-2022 marks its owner immutable, and keeps withheld fees. */
function tokenAccountSpace(mint: Mint): number {
  if (mint.program !== TOKEN_2022_PROGRAM) return TOKEN_ACCOUNT_BYTES;
  return TOKEN_ACCOUNT_BYTES + 1 + 4 + (mint.transferFees === undefined ? 0 : 12);
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
