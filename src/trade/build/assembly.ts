import type { Address } from "../../primitives/address.ts";
import { pooledBytes } from "../../primitives/bytes.ts";
import type { Account } from "../../solana/account.ts";
import type { DerivedAddress } from "../../solana/derived-address.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { wantsMemo } from "../../solana/token/account-extensions.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { closeTokenAccount, createTokenAccount, requireBalance } from "../../solana/token/token-instructions.ts";
import { fillWrappedSol, openWrappedSol, seededAddress } from "../../solana/token/wrapped-sol.ts";
import { rentOfGrowth } from "../../venues/venue.ts";
import type { Intent } from "../intent.ts";
import type { Route, RouteStep } from "../quote/route.ts";
import { loosened, type TotalGuard, totalGuardOf } from "../total-guard.ts";
import { BUDGET_INSTRUCTIONS } from "./budget.ts";
import { nativeSha256 } from "./native-sha256.ts";
import type { Assembly, AssemblyPorts, AssemblyTerms, CreatedAccount, Wrapping } from "./parts/assembled.ts";
import { createAccountUnits, creationCalls, GROWTH_CALLS, UNITS } from "./parts/compute-units.ts";
import { swapLegOf } from "./unbuildable-market.ts";
import { type WalletAccounts, wrappedSolAccount } from "./wallet-accounts.ts";

/**
 * The instructions the trade needs and nothing else, behind those of the compute budget: token accounts that may be missing, SOL
 * wrapped and unwrapped for venues that need it, and the swaps.
 *
 * @param guardsTotal true if the caller knows the guard of the total
 * @throws UnbuildableMarket
 */
export function assemble(
  ports: AssemblyPorts,
  terms: AssemblyTerms,
  route: Route,
  accounts: WalletAccounts,
  wrapping: Wrapping,
  guardsTotal = false,
): Assembly {
  const { intent } = terms;
  const parts = new AssemblyParts(accounts.wallet, ports, terms, wrapping);
  const { steps } = route;
  const { destination, intermediate } = accounts;
  let wrapped = 0n;
  // Indexed loops: iterators would allocate, seven objects a build.
  for (let at = 0; at < steps.length; at++) wrapped += mostWrapped(steps[at]!);
  if (destination !== undefined) parts.needTokenAccount(intent.outMint, destination);
  for (let at = 0; at < intermediate.length; at++)
    parts.needTokenAccount(intermediate[at]!.mint, intermediate[at]!.account);
  // The wallet's own account may hold more than the transaction puts into it.
  const guard = guardsTotal && wrapping === "seeded" ? totalGuardOf(intent, route, ports.head) : undefined;
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at]!;
    const { quote, hot } = step;
    if (quote.inMint === SOL_MINT) {
      if (hot.market.nativeSol) parts.closeWrapped();
      else parts.openWrapped(wrapped);
    } else if (quote.outMint === SOL_MINT && !hot.market.nativeSol) {
      parts.openWrapped(0n);
    }
    const from = parts.accountOf(quote.inMint, accounts, hot.market.nativeSol);
    const to = parts.accountOf(quote.outMint, accounts, hot.market.nativeSol);
    parts.swap(guard === undefined ? step : loosened(step, guard), from, to);
  }
  if (guard !== undefined) parts.guardTotal(guard);
  parts.closeWrapped();
  // A market may leave part of an exact input unspent; the account is then not empty and cannot be closed.
  if (intent.emptied !== undefined && route.inAmount === intent.amount)
    parts.closeEmptied(intent.inMint, intent.emptied);
  return parts.finish();
}

/** The most wrapped SOL that a step may spend: of a budget that it is quoted to leave a unit of, all. Lamports. */
function mostWrapped({ hot, quote, threshold }: RouteStep): bigint {
  if (quote.inMint !== SOL_MINT || hot.market.nativeSol) return 0n;
  if (quote.mode === "exactOut") return threshold;
  return hot.venue.signedAsk === undefined ? quote.inAmount : hot.venue.signedAsk(quote).amount;
}

/**
 * The accounts looked up so far, with their state, which does not change while a message is made. Shared by all assemblies: none of them
 * awaits.
 */
const asked: Address[] = [];
const known: (Account | null | undefined)[] = [];

/** The instructions so far. Shared by all assemblies: a new list that grows would take twice the memory. */
const written: Instruction[] = [...BUDGET_INSTRUCTIONS];

/** The assembly in progress. */
let current: AssemblyParts | undefined;
/** The look-up that venues call: made once, not for each assembly. */
const exists = (address: Address, owner?: "program" | "system"): boolean => current!.exists(address, owner);

/** Collects the instructions of one transaction and what they cost: the assembly itself, once it is finished. */
class AssemblyParts implements Assembly {
  instructions: readonly Instruction[] = NONE_WRITTEN;
  computeUnits = 0;
  spareUnits = 0;
  movedUnits = 0;
  calls = 0;
  creates: readonly CreatedAccount[] = NONE_CREATED;
  prepaid = 0n;
  temporaryRent = 0n;
  wrapped = 0n;
  closes: Intent["emptied"] = undefined;
  unknown: readonly Address[] = NONE_UNKNOWN;
  isGuarded = false;
  readonly #wallet: Address;
  readonly #ports: AssemblyPorts;
  readonly #terms: AssemblyTerms;
  readonly #wrapping: Wrapping;
  #count = BUDGET_INSTRUCTIONS.length;
  /** Number of accounts looked up. */
  #asked = 0;
  #wrapped: Address | undefined;

  constructor(wallet: Address, ports: AssemblyPorts, terms: AssemblyTerms, wrapping: Wrapping) {
    this.#wallet = wallet;
    this.#ports = ports;
    this.#terms = terms;
    this.#wrapping = wrapping;
    current = this;
  }

  #write(instruction: Instruction): void {
    written[this.#count++] = instruction;
  }

  /** Creates the wallet's token account unless it is known to exist. */
  needTokenAccount(mint: Mint, { address, bump }: DerivedAddress): void {
    if (this.exists(address)) return;
    this.#write(createTokenAccount(address, this.#wallet, mint.address, mint.program));
    this.computeUnits +=
      createAccountUnits(mint, bump) + (this.#account(address) == null ? 0 : UNITS.createTokenAccount.funded);
    this.#create(address, mint.accountSize);
    // The first call that creates an account is the message's own.
    this.calls--;
  }

  /** Opens the temporary wrapped-SOL account with `lamports` in it. One that is open holds what the next swaps need. */
  openWrapped(lamports: bigint): void {
    if (this.#wrapped !== undefined) return;
    const rent = this.#ports.head.rentExemption(TOKEN_ACCOUNT_BYTES);
    this.temporaryRent = rent;
    this.wrapped = lamports;
    if (this.#wrapping === "associated") {
      const { address, bump } = wrappedSolAccount(this.#wallet);
      for (const part of fillWrappedSol({ account: address, wallet: this.#wallet, lamports })) this.#write(part);
      this.computeUnits +=
        UNITS.createTokenAccount.base + UNITS.createTokenAccount.perBump * (255 - bump) + UNITS.fillWrappedSol;
      this.calls += creationCalls(TOKEN_ACCOUNT_BYTES, false) - 1;
      this.#wrapped = address;
      return;
    }
    const { seed } = this.#terms;
    const account = seededAddress(this.#wallet, seed, TOKEN_PROGRAM, pooledSha256);
    const [create, initialize] = openWrappedSol({ account, wallet: this.#wallet, seed, lamports, rent });
    this.#write(create);
    this.#write(initialize);
    this.computeUnits += UNITS.openWrappedSol;
    this.#wrapped = account;
  }

  /** Closes the temporary wrapped-SOL account, if one is open: its SOL and rent return to the wallet. */
  closeWrapped(): void {
    if (this.#wrapped === undefined) return;
    this.#write(closeTokenAccount(this.#wrapped, this.#wallet, TOKEN_PROGRAM));
    this.computeUnits += UNITS.closeWrappedSol;
    this.#wrapped = undefined;
  }

  /** Requires the sum that all markets together must pay into the temporary wrapped-SOL account. */
  guardTotal({ amount }: TotalGuard): void {
    const owner = this.#wallet;
    const order = { mint: SOL_MINT, tokenProgram: TOKEN_PROGRAM, amount, decimals: SOL_DECIMALS };
    this.#write(requireBalance({ account: this.#wrapped!, owner, ...order }));
    this.computeUnits += UNITS.guardTotal;
    this.isGuarded = true;
  }

  /** Closes the token account that the swap emptied: its rent returns to the wallet. */
  closeEmptied({ program }: Mint, emptied: NonNullable<Intent["emptied"]>): void {
    this.#write(closeTokenAccount(emptied.address, this.#wallet, program));
    this.computeUnits += program === TOKEN_2022_PROGRAM ? UNITS.closeEmptied.token2022 : UNITS.closeEmptied.base;
    this.closes = emptied;
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
      salt: this.#terms.nonce,
      exists,
    });
    const { instructions, creates } = leg;
    for (let at = 0; at < instructions.length; at++) this.#write(instructions[at]!);
    // The deployed program may take more than the table says.
    const { computeUnits, spareUnits = 0, movedUnits = 0 } = leg;
    const { unitsScale } = hot;
    const units = unitsScale === undefined ? computeUnits : Math.ceil(computeUnits * unitsScale);
    this.computeUnits += units;
    if (movedUnits > 0) this.movedUnits += Math.ceil(movedUnits * (unitsScale ?? 1));
    if (spareUnits > 0) this.spareUnits += Math.ceil((computeUnits + spareUnits) * (unitsScale ?? 1)) - units;
    const receiver = quote.outMint === SOL_MINT ? undefined : this.#account(destination);
    this.calls += hot.venue.calls ?? 0;
    if (receiver != null && wantsMemo(receiver)) {
      this.computeUnits += UNITS.memo;
      this.calls++;
    }
    for (let at = 0; at < creates.length; at++) {
      const { address, space } = creates[at]!;
      if (!this.exists(address, space === 0 ? "system" : "program")) this.#create(address, space);
    }
    const { head } = this.#ports;
    if (leg.grows === undefined) return;
    for (const growth of leg.grows) {
      this.calls += GROWTH_CALLS;
      const { address, to } = growth;
      const rent = rentOfGrowth(growth, (space) => head.rentExemption(space));
      if (rent === 0n) continue;
      const grown = { address, space: to, rent, grows: true };
      const isTraded = hot.market.nativeSol && address === hot.market.address;
      this.creates = [...this.creates, isTraded ? { ...grown, isTraded } : grown];
    }
  }

  /** Counts an account once: two legs may name the same one, and only the first creates it. */
  #create(address: Address, space: number): void {
    const creates = this.creates;
    for (let at = 0; at < creates.length; at++) if (creates[at]!.address === address) return;
    const created = { address, space, rent: this.#ports.head.rentExemption(space), grows: false };
    this.creates = creates.length === 0 ? [created] : [...creates, created];
    const held = this.#account(address)?.lamports ?? 0n;
    this.calls += creationCalls(space, held > 0n);
    this.prepaid += held < created.rent ? held : created.rent;
  }

  finish(): Assembly {
    this.instructions = written.slice(0, this.#count);
    return this;
  }

  #account(address: Address): Account | null | undefined {
    const count = this.#asked;
    for (let at = 0; at < count; at++) if (asked[at] === address) return known[at];
    const account = this.#ports.markets.account(address);
    asked[count] = address;
    known[count] = account;
    this.#asked = count + 1;
    return account;
  }

  /** Anyone can send lamports to an unused address, but that creates a system account, never a token account. */
  exists(address: Address, owner: "program" | "system" = "program"): boolean {
    const account = this.#account(address);
    if (account === undefined) this.unknown = [...this.unknown, address];
    return account != null && (owner === "system" || account.owner !== SYSTEM_PROGRAM);
  }
}

const pooledSha256 = (bytes: Uint8Array): Uint8Array => nativeSha256(bytes, pooledBytes(32));
/** Shared empty lists: most trades create one account or none, and know of each whether it exists. */
const NONE_CREATED: readonly CreatedAccount[] = [];
const NONE_UNKNOWN: readonly Address[] = [];
const NONE_WRITTEN: readonly Instruction[] = [];
const TOKEN_ACCOUNT_BYTES = 165;
const SOL_DECIMALS = 9;
