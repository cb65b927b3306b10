import type { ChainHead } from "../../chain/port.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import type { Account } from "../../solana/account.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { wantsMemo } from "../../solana/token/account-extensions.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { closeTokenAccount, createTokenAccount, requireBalance } from "../../solana/token/token-instructions.ts";
import { fillWrappedSol, openWrappedSol, seededAddress } from "../../solana/token/wrapped-sol.ts";
import type { Intent } from "../intent.ts";
import type { Route, RouteStep } from "../quote/route.ts";
import { loosened, type TotalGuard, totalGuardOf } from "../total-guard.ts";
import { nativeSha256 } from "./native-sha256.ts";
import { createAccountUnits, UNITS } from "./parts/compute-units.ts";
import { swapLegOf } from "./unbuildable-market.ts";
import { type WalletAccounts, wrappedSolAccount } from "./wallet-accounts.ts";

/** An account that the transaction creates or enlarges at the wallet's expense. */
export interface CreatedAccount {
  readonly address: Address;
  /** Data bytes; 0 for a system account. */
  readonly space: number;
  /** Lamports paid so that it may exist, or grow; what it receives beyond that is part of the trade. */
  readonly rent: bigint;
  /** True if it exists already, and grows to `space`. */
  readonly grows: boolean;
}

/** The instructions of a trade, in order, without the compute budget. */
export interface Assembly {
  readonly instructions: readonly Instruction[];
  /** Upper bound of what the instructions use, without margin. */
  readonly computeUnits: number;
  /** Accounts that may be created: all that are not known to exist. */
  readonly creates: readonly CreatedAccount[];
  /** What addresses of accounts to create hold already, and their rent is less by. Lamports. */
  readonly prepaid: bigint;
  /** Rent of the temporary wrapped-SOL account. Lamports the wallet needs while the transaction runs, and gets back. */
  readonly temporaryRent: bigint;
  /** The wallet's token account that is closed, if any, and the lamports it returns. */
  readonly closes: Intent["emptied"];
  /** Accounts that may or may not exist. They count as missing, so `creates` may name too many. */
  readonly unknown: readonly Address[];
  /** True if one instruction bounds the sum of the output: see `TotalGuard`. */
  readonly isGuarded: boolean;
}

/** In the place of an assembly that cannot be made. */
export const NOTHING_ASSEMBLED: Assembly = {
  instructions: [],
  computeUnits: 0,
  creates: [],
  prepaid: 0n,
  temporaryRent: 0n,
  closes: undefined,
  unknown: [],
  isGuarded: false,
};

/** What an assembly reads beside the trade itself, and how it wraps SOL. */
export interface AssemblyContext {
  readonly markets: Pick<Markets, "account">;
  readonly head: Pick<ChainHead, "rentExemption">;
  /** A number that differs between builds: spreads fee recipients. */
  readonly nonce: number;
  /**
   * Seed of the temporary wrapped-SOL account. Nobody must be able to guess it: an account that exists already, funded by
   * anyone, makes the transaction fail.
   */
  readonly seed: string;
  /**
   * Where SOL is wrapped. `seeded`: in a temporary account at an address of its own; wrapped SOL that the wallet holds is
   * untouched. `associated`: in the wallet's own wrapped-SOL account, a hundred bytes shorter; only for wallets without one.
   */
  readonly wrapping: "seeded" | "associated";
  /** True if the caller knows the guard of the total. */
  readonly guardsTotal?: boolean | undefined;
}

/**
 * The instructions the trade needs and nothing else: token accounts that may be missing, SOL wrapped and unwrapped for
 * venues that need it, and the swaps.
 *
 * @throws UnbuildableMarket
 */
export function assemble(intent: Intent, route: Route, accounts: WalletAccounts, context: AssemblyContext): Assembly {
  const parts = new AssemblyParts(accounts.wallet, context);
  let wrapped = 0n;
  for (const step of route.steps)
    if (step.quote.inMint === SOL_MINT && !step.hot.market.nativeSol) wrapped += mostIn(step);
  if (accounts.destination !== undefined) parts.needTokenAccount(intent.outMint, accounts.destination);
  for (const { mint, account } of accounts.intermediate) parts.needTokenAccount(mint, account);
  const guard = guardOf(intent, route, context);
  for (const step of route.steps) {
    const { quote, hot } = step;
    if (quote.inMint === SOL_MINT) {
      if (hot.market.nativeSol) parts.closeWrapped();
      else parts.openWrapped(wrapped);
    } else if (quote.outMint === SOL_MINT && !hot.market.nativeSol) {
      parts.openWrapped(0n);
    }
    const source = parts.accountOf(quote.inMint, accounts, hot.market.nativeSol);
    const destination = parts.accountOf(quote.outMint, accounts, hot.market.nativeSol);
    parts.swap(guard === undefined ? step : loosened(step, guard), source, destination);
  }
  if (guard !== undefined) parts.guardTotal(guard);
  parts.closeWrapped();
  // A market may leave part of an exact input unspent; the account is then not empty and cannot be closed.
  if (intent.emptied !== undefined && route.inAmount === intent.amount)
    parts.closeEmptied(intent.inMint, intent.emptied);
  return parts.finish();
}

/** The guard of the total, if the caller knows it. The wallet's own account may hold more than the transaction puts into it. */
function guardOf(
  intent: Intent,
  route: Route,
  { guardsTotal, wrapping, head }: AssemblyContext,
): TotalGuard | undefined {
  if (guardsTotal !== true || wrapping !== "seeded") return undefined;
  return totalGuardOf(intent, route, head);
}

/** The most that a step may spend. */
function mostIn({ quote, threshold }: RouteStep): bigint {
  return quote.mode === "exactIn" ? quote.inAmount : threshold;
}

/** The accounts asked for so far, and what is known of each: nothing changes while a message is made. Serves every assembly; none waits. */
const asked: Address[] = [];
const known: (Account | null | undefined)[] = [];

/** Collects the instructions of one transaction and what they cost. */
class AssemblyParts {
  readonly #wallet: Address;
  readonly #context: AssemblyContext;
  readonly #instructions: Instruction[] = [];
  #creates: readonly CreatedAccount[] = NONE_CREATED;
  #prepaid = 0n;
  #unknown: readonly Address[] = NONE_UNKNOWN;
  /** How many accounts were asked for. */
  #asked = 0;
  #computeUnits = 0;
  #temporaryRent = 0n;
  #wrapped: Address | undefined;
  #closes: Intent["emptied"];
  #isGuarded = false;

  constructor(wallet: Address, context: AssemblyContext) {
    this.#wallet = wallet;
    this.#context = context;
  }

  /** Creates the wallet's token account unless it is known to exist. */
  needTokenAccount(mint: Mint, { address, bump }: DerivedAddress): void {
    if (this.#exists(address)) return;
    this.#instructions.push(createTokenAccount(address, this.#wallet, mint.address, mint.program));
    this.#computeUnits +=
      createAccountUnits(mint, bump) + (this.#account(address) == null ? 0 : UNITS.createTokenAccount.funded);
    this.#create(address, mint.accountSize);
  }

  /** Opens the temporary wrapped-SOL account with `lamports` in it. One that is open holds what the next swaps need. */
  openWrapped(lamports: bigint): void {
    if (this.#wrapped !== undefined) return;
    const rent = this.#context.head.rentExemption(TOKEN_ACCOUNT_BYTES);
    this.#temporaryRent = rent;
    if (this.#context.wrapping === "associated") {
      const { address, bump } = wrappedSolAccount(this.#wallet);
      this.#instructions.push(...fillWrappedSol({ account: address, wallet: this.#wallet, lamports }));
      this.#computeUnits +=
        UNITS.createTokenAccount.base + UNITS.createTokenAccount.perBump * (255 - bump) + UNITS.fillWrappedSol;
      this.#wrapped = address;
      return;
    }
    const { seed } = this.#context;
    const account = seededAddress(this.#wallet, seed, TOKEN_PROGRAM, nativeSha256);
    this.#instructions.push(...openWrappedSol({ account, wallet: this.#wallet, seed, lamports, rent }));
    this.#computeUnits += UNITS.openWrappedSol;
    this.#wrapped = account;
  }

  /** Closes the temporary wrapped-SOL account, if one is open: its SOL and rent return to the wallet. */
  closeWrapped(): void {
    if (this.#wrapped === undefined) return;
    this.#instructions.push(closeTokenAccount(this.#wrapped, this.#wallet, TOKEN_PROGRAM));
    this.#computeUnits += UNITS.closeWrappedSol;
    this.#wrapped = undefined;
  }

  /** Requires what all markets together must have put into the temporary wrapped-SOL account. */
  guardTotal({ amount }: TotalGuard): void {
    const owner = this.#wallet;
    const order = { mint: SOL_MINT, tokenProgram: TOKEN_PROGRAM, amount, decimals: SOL_DECIMALS };
    this.#instructions.push(requireBalance({ account: this.#wrapped!, owner, ...order }));
    this.#computeUnits += UNITS.guardTotal;
    this.#isGuarded = true;
  }

  /** Closes the token account that the swap emptied: its rent returns to the wallet. */
  closeEmptied({ program }: Mint, emptied: NonNullable<Intent["emptied"]>): void {
    this.#instructions.push(closeTokenAccount(emptied.address, this.#wallet, program));
    this.#computeUnits += program === TOKEN_2022_PROGRAM ? UNITS.closeEmptied.token2022 : UNITS.closeEmptied.base;
    this.#closes = emptied;
  }

  /** The wallet's account of one side of a swap. Venues that move lamports still name the wallet's wrapped-SOL account. */
  accountOf(mint: Address, accounts: WalletAccounts, nativeSol: boolean): Address {
    if (mint === SOL_MINT) return (nativeSol ? undefined : this.#wrapped) ?? wrappedSolAccount(this.#wallet).address;
    const { source, destination, intermediate } = accounts;
    if (source?.mint === mint) return source.address;
    if (destination?.mint === mint) return destination.address;
    for (const { account } of intermediate) if (account.mint === mint) return account.address;
    throw new RangeError(`the trade does not touch ${mint}`);
  }

  /** Appends the swap of a step. */
  swap({ hot, quote, threshold }: RouteStep, source: Address, destination: Address): void {
    const leg = swapLegOf(hot, quote, {
      wallet: this.#wallet,
      source,
      destination,
      threshold,
      salt: this.#context.nonce,
      exists: this.#exists,
    });
    this.#instructions.push(...leg.instructions);
    // The deployed program may take more than the table says.
    this.#computeUnits +=
      hot.unitsScale === undefined ? leg.computeUnits : Math.ceil(leg.computeUnits * hot.unitsScale);
    const receiver = quote.outMint === SOL_MINT ? undefined : this.#account(destination);
    if (receiver != null && wantsMemo(receiver)) this.#computeUnits += UNITS.memo;
    for (const { address, space } of leg.creates)
      if (!this.#exists(address, space === 0 ? "system" : "program")) this.#create(address, space);
    const { head } = this.#context;
    if (leg.grows === undefined) return;
    for (const { address, from, to } of leg.grows) {
      const rent = head.rentExemption(to) - head.rentExemption(from);
      this.#creates = [...this.#creates, { address, space: to, rent, grows: true }];
    }
  }

  /** Counts an account once: two legs may name the same one, and only the first creates it. */
  #create(address: Address, space: number): void {
    const creates = this.#creates;
    for (let at = 0; at < creates.length; at++) if (creates[at]!.address === address) return;
    const created = { address, space, rent: this.#context.head.rentExemption(space), grows: false };
    this.#creates = creates.length === 0 ? [created] : [...creates, created];
    const held = this.#account(address)?.lamports ?? 0n;
    this.#prepaid += held < created.rent ? held : created.rent;
  }

  finish(): Assembly {
    return {
      instructions: this.#instructions,
      computeUnits: this.#computeUnits,
      creates: this.#creates,
      prepaid: this.#prepaid,
      temporaryRent: this.#temporaryRent,
      closes: this.#closes,
      unknown: this.#unknown,
      isGuarded: this.#isGuarded,
    };
  }

  #account(address: Address): Account | null | undefined {
    const count = this.#asked;
    for (let at = 0; at < count; at++) if (asked[at] === address) return known[at];
    const account = this.#context.markets.account(address);
    asked[count] = address;
    known[count] = account;
    this.#asked = count + 1;
    return account;
  }

  /** Anyone can send lamports to an address at which nothing is yet: that makes a system account, and no other. */
  readonly #exists = (address: Address, owner: "program" | "system" = "program"): boolean => {
    const account = this.#account(address);
    if (account === undefined) this.#unknown = [...this.#unknown, address];
    return account != null && (owner === "system" || account.owner !== SYSTEM_PROGRAM);
  };
}

/** Most trades create one account or none, and know of all whether they exist. */
const NONE_CREATED: readonly CreatedAccount[] = [];
const NONE_UNKNOWN: readonly Address[] = [];
const TOKEN_ACCOUNT_BYTES = 165;
const SOL_DECIMALS = 9;
