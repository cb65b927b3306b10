import type { Address } from "../../primitives/address.ts";
import { formatAmount } from "../../primitives/amount.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { TradeError } from "../trade-error.ts";
import { type BaseInstruction, baseProgramName, describeInstruction, readBaseInstruction } from "./base-instruction.ts";
import { addressWithSeed, tokenAccountAddress } from "./derived-address.ts";
import {
  findSwapTable,
  isVenueProgram,
  placesOf,
  type SwapBounds,
  type SwapContext,
  swapBounds,
  swapFaults,
} from "./match-swap.ts";
import {
  type LookupTables,
  type MessageAccount,
  type MessageInstruction,
  type ReadTransaction,
  readTransaction,
} from "./read-transaction.ts";
import { isTipAccount } from "./tip-accounts.ts";
import type { ExpectedLeg, TradeExpectation } from "./trade-expectation.ts";

/** One thing in a transaction that is not explained by the trade. */
export interface Problem {
  /** Which instruction, counted from 1; undefined where it is of the message as a whole. */
  readonly instruction: number | undefined;
  readonly account: Address | undefined;
  /** In plain words. */
  readonly reason: string;
}

/** A transaction that is not the trade that was asked for. Nothing was signed. */
export class UnexpectedTransactionError extends TradeError {
  override readonly name: string = "UnexpectedTransactionError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    super("UNEXPECTED_TRANSACTION", `Refused to sign: ${first === undefined ? "" : describeProblem(first)}${more}.`);
    this.problems = problems;
  }
}

/** A problem as one line. */
export function describeProblem({ instruction, account, reason }: Problem): string {
  const where = instruction === undefined ? "" : `instruction ${instruction}: `;
  return `${where}${reason}${account === undefined ? "" : ` [${account}]`}`;
}

export interface VerifyOptions {
  /** Contents of lookup tables, read by the caller from the chain; without them a message that uses any is refused. */
  readonly lookupTables?: LookupTables | undefined;
}

const TOKEN_ACCOUNT_SIZE = 165n;
/** Rent is a whole price per byte, of the data and 128 bytes beside; the network lowers that price in steps between these. */
const RENT_BYTES = TOKEN_ACCOUNT_SIZE + 128n;
const LEAST_RENT_PER_BYTE = 696n;
const MOST_RENT_PER_BYTE = 6_960n;
const MICRO = 1_000_000n;

/**
 * Proves that an unsigned wire transaction is the expected trade and nothing else. Pure and offline.
 * @returns the transaction, taken apart
 * @throws UnexpectedTransactionError with everything that is not explained; TradeError UNREADABLE_TRANSACTION
 */
export function verifyTransaction(
  wire: Uint8Array,
  expectation: TradeExpectation,
  options: VerifyOptions = {},
): ReadTransaction {
  const transaction = readTransaction(wire, options.lookupTables);
  const problems = findProblems(transaction, expectation);
  if (problems.length > 0) throw new UnexpectedTransactionError(problems);
  return transaction;
}

/** Everything in a transaction that the expected trade does not explain. Empty: it is that trade and nothing else. */
export function findProblems(transaction: ReadTransaction, expectation: TradeExpectation): readonly Problem[] {
  return new Verification(transaction, expectation).run();
}

/** The passing wrapped-SOL account of a trade, as its instructions come by. */
interface PassingAccount {
  readonly address: Address;
  /** True for the wallet's own wrapped-SOL account, which is filled by a transfer; its rent is paid beside. */
  readonly associated: boolean;
  lamports: bigint;
  initialized: boolean;
  closed: boolean;
  used: boolean;
}

/** One pass over a message: every instruction is explained or becomes a problem, every right is needed or becomes one. */
class Verification {
  readonly #transaction: ReadTransaction;
  readonly #trade: TradeExpectation;
  readonly #problems: Problem[] = [];
  /** Indices of accounts that an explained instruction names, and of those it may write. */
  readonly #named = new Set<number>();
  readonly #written = new Set<number>([0]);
  /** The wallet's associated accounts, per traded mint. */
  readonly #tokenAccounts: ReadonlyMap<Address, ReadonlySet<Address>>;
  readonly #seen = new Set<string>();
  #at = 0;
  #units: number | undefined;
  #unitPrice: bigint | undefined;
  #tips = 0n;
  #passing: PassingAccount | undefined;
  #swaps = 0;
  /** The least the swap before yields: the most the next may take. */
  #yielded: bigint | undefined;

  constructor(transaction: ReadTransaction, trade: TradeExpectation) {
    this.#transaction = transaction;
    this.#trade = trade;
    const mints = new Set(trade.legs.flatMap(({ inMint, outMint }) => [inMint, outMint]));
    this.#tokenAccounts = new Map(Array.from(mints, (mint) => [mint, ownTokenAccounts(trade.wallet, mint)]));
  }

  run(): readonly Problem[] {
    const { instructions } = this.#transaction;
    this.#checkSigners();
    for (const [index, instruction] of instructions.entries()) {
      this.#at = index + 1;
      this.#checkInstruction(instruction);
    }
    this.#at = 0;
    const { length } = this.#trade.legs;
    if (this.#swaps !== length) this.#refuse(`it holds ${this.#swaps} swaps where the route has ${length}`);
    if (this.#passing?.closed === false) {
      this.#refuse("the passing wrapped-SOL account is not closed again", this.#passing.address);
    }
    if (this.#passing?.used === false) this.#refuse("no swap uses the wrapped-SOL account", this.#passing.address);
    if (this.#trade.closesSource && !this.#seen.has("close emptied account")) {
      this.#refuse("the emptied token account stays open, although its rent was to come back");
    }
    this.#checkPriority();
    this.#checkRights();
    return this.#problems;
  }

  #refuse(reason: string, account?: Address): void {
    this.#problems.push({ instruction: this.#at === 0 ? undefined : this.#at, account, reason });
  }

  #checkSigners(): void {
    const { accounts, requiredSignatures, signatures } = this.#transaction;
    const { wallet } = this.#trade;
    if (accounts[0]?.address !== wallet) this.#refuse("another account pays the fee", accounts[0]?.address);
    if (requiredSignatures !== 1) {
      this.#refuse(`it asks for ${requiredSignatures} signatures; only this wallet signs`, accounts[1]?.address);
    }
    if (accounts[0]?.writable === false) this.#refuse("its fee payer cannot be written", accounts[0].address);
    if (signatures.length !== 1) this.#refuse(`it has room for ${signatures.length} signatures`);
    if (signatures.some((signature) => signature.some((byte) => byte !== 0))) {
      this.#refuse("it comes with a signature already in it");
    }
  }

  #checkInstruction(instruction: MessageInstruction): void {
    for (const { index } of instruction.accounts) this.#named.add(index);
    const base = readBaseInstruction(instruction);
    if (base !== undefined) this.#checkBase(base);
    else if (isVenueProgram(instruction.program)) this.#checkVenue(instruction);
    else this.#refuse(describeInstruction(instruction), firstStranger(instruction, this.#trade.wallet));
  }

  #checkBase(instruction: BaseInstruction): void {
    switch (instruction.kind) {
      case "computeUnitLimit":
        this.#once(instruction.kind);
        this.#units = instruction.units;
        return;
      case "computeUnitPrice":
        this.#once(instruction.kind);
        this.#unitPrice = instruction.microLamports;
        return;
      case "loadedAccountsLimit":
        this.#once(instruction.kind);
        return;
      case "createTokenAccount":
        this.#checkCreate(instruction);
        return;
      case "transferLamports":
        this.#checkTransfer(instruction);
        return;
      case "createWithSeed":
        this.#checkOpen(instruction);
        return;
      case "initializeTokenAccount":
        this.#checkInitialize(instruction);
        return;
      case "syncWrappedSol":
        this.#checkSync(instruction);
        return;
      case "closeTokenAccount":
        this.#checkClose(instruction);
        return;
    }
  }

  #once(kind: string): void {
    if (this.#seen.has(kind)) this.#refuse("it repeats an instruction that may stand once");
    this.#seen.add(kind);
  }

  /** A receiving token account, paid by and belonging to the wallet. */
  #checkCreate(create: Extract<BaseInstruction, { kind: "createTokenAccount" }>): void {
    const { wallet, legs } = this.#trade;
    this.#once(`${create.kind} ${create.mint}`);
    if (create.payer.address !== wallet) this.#refuse("somebody else pays for a token account", create.payer.address);
    if (create.owner !== wallet) this.#refuse("it creates a token account for somebody else", create.owner);
    const passes = create.mint === SOL_MINT && this.#tokenAccounts.has(SOL_MINT) && this.#passing === undefined;
    if (passes) {
      const { address } = create.account;
      this.#passing = { address, associated: true, lamports: 0n, initialized: true, closed: false, used: false };
    } else if (create.mint === SOL_MINT || !legs.some(({ outMint }) => outMint === create.mint)) {
      this.#refuse("it creates a token account of a mint that this trade does not receive", create.mint);
    }
    if (create.tokenProgram !== TOKEN_PROGRAM && create.tokenProgram !== TOKEN_2022_PROGRAM) {
      this.#refuse("it creates a token account under a program that is no token program", create.tokenProgram);
    } else if (create.account.address !== tokenAccountAddress(wallet, create.mint, create.tokenProgram)) {
      this.#refuse("the token account it creates is not the wallet's", create.account.address);
    }
    this.#write(create.payer, create.account);
  }

  /** A transfer fills the wallet's wrapped-SOL account before the swap that spends it, or is a tip that was announced. */
  #checkTransfer({ from, to, lamports }: Extract<BaseInstruction, { kind: "transferLamports" }>): void {
    const passing = this.#passing;
    if (from.address !== this.#trade.wallet) this.#refuse("it transfers SOL of another account", from.address);
    this.#write(from, to);
    if (passing?.associated && to.address === passing.address && !passing.used && !passing.closed) {
      passing.lamports += lamports;
    } else {
      const { tipAccounts } = this.#trade;
      if (!isTipAccount(to.address) && tipAccounts !== "any" && !tipAccounts.has(to.address)) {
        this.#refuse(`it transfers ${sol(lamports)} SOL to somebody who is no part of this trade`, to.address);
      }
      this.#tips += lamports;
    }
  }

  #checkSync({ account }: Extract<BaseInstruction, { kind: "syncWrappedSol" }>): void {
    this.#once("syncWrappedSol");
    if (!this.#passing?.associated || account.address !== this.#passing.address) {
      this.#refuse("it brings a wrapped-SOL account up to date that this trade does not open", account.address);
    }
    this.#write(account);
  }

  /** The wrapped-SOL account that lives for this transaction, holding what may be spent and its rent. */
  #checkOpen(open: Extract<BaseInstruction, { kind: "createWithSeed" }>): void {
    const { wallet } = this.#trade;
    this.#once(open.kind);
    if (!this.#tokenAccounts.has(SOL_MINT)) {
      this.#refuse("it opens a wrapped-SOL account although no SOL is traded", open.account.address);
    }
    if (open.payer.address !== wallet || open.base !== wallet) {
      this.#refuse("the account it opens is not paid by and derived from the wallet", open.payer.address);
    }
    if (open.owner !== TOKEN_PROGRAM || open.space !== TOKEN_ACCOUNT_SIZE) {
      this.#refuse("the account it opens is no token account", open.owner);
    }
    if (open.account.address !== addressWithSeed(wallet, open.seed, TOKEN_PROGRAM)) {
      this.#refuse("the account it opens does not derive from the wallet", open.account.address);
    }
    this.#passing = {
      address: open.account.address,
      associated: false,
      lamports: open.lamports,
      initialized: false,
      closed: false,
      used: false,
    };
    this.#write(open.payer, open.account);
  }

  #checkInitialize({ account, mint, owner }: Extract<BaseInstruction, { kind: "initializeTokenAccount" }>): void {
    this.#once("initializeTokenAccount");
    if (account.address !== this.#passing?.address) {
      this.#refuse("it sets up a token account that this trade does not open", account.address);
    } else this.#passing.initialized = true;
    if (mint !== SOL_MINT) this.#refuse("the passing account is set up for another mint than SOL", mint);
    if (owner !== this.#trade.wallet) this.#refuse("the passing account is set up for another owner", owner);
    this.#write(account);
  }

  #checkClose(close: Extract<BaseInstruction, { kind: "closeTokenAccount" }>): void {
    const { wallet, closesSource, inMint } = this.#trade;
    const { account, to, authority } = close;
    if (to.address !== wallet) this.#refuse("it closes an account to somebody else, who gets its SOL", to.address);
    if (authority.address !== wallet) this.#refuse("it closes an account by another authority", authority.address);
    if (this.#swaps === 0) this.#refuse("it closes an account before the swap", account.address);
    if (account.address === this.#passing?.address) {
      this.#once("close passing account");
      this.#passing.closed = true;
    } else if (closesSource && this.#tokenAccounts.get(inMint)?.has(account.address))
      this.#once("close emptied account");
    else this.#refuse("it closes an account that this trade does not open", account.address);
    this.#write(account, to);
  }

  #checkVenue(instruction: MessageInstruction): void {
    const table = findSwapTable(instruction);
    if (table === undefined) {
      this.#refuse("it calls a venue's program in a way this library does not know", instruction.program);
      return;
    }
    const leg = this.#trade.legs[this.#swaps];
    this.#swaps += 1;
    if (leg === undefined) {
      this.#refuse("it swaps once more than the route says", instruction.program);
      return;
    }
    if (leg.venue !== table.venue) {
      this.#refuse(`it trades on ${table.venue}, where the service said ${leg.venue}`, instruction.program);
    }
    const context = this.#swapContext(leg, table.nativeSol);
    const places = placesOf(table, instruction, context);
    for (const { account, reason } of swapFaults(table, instruction, places, context)) this.#refuse(reason, account);
    const bounds = swapBounds(table, instruction.data);
    this.#checkBounds(bounds, table.exact);
    this.#yielded = bounds.leastOut;
    if (!table.nativeSol && (leg.inMint === SOL_MINT || leg.outMint === SOL_MINT)) {
      this.#usePassing(leg.inMint === SOL_MINT ? bounds.mostIn : 0n);
    }
    for (const [index, place] of places.entries()) {
      const account = instruction.accounts[index];
      if (place.writable && account !== undefined) this.#write(account);
    }
  }

  /** What goes in first and comes out last are the request's; what passes between two swaps is no more than the first yields. */
  #checkBounds({ mostIn, leastOut }: SwapBounds, exact: "in" | "out"): void {
    const { mode, amount, threshold, legs } = this.#trade;
    const exactIn = mode === "exactIn";
    if (this.#yielded !== undefined) {
      if (mostIn > this.#yielded) {
        this.#refuse(`it may take ${mostIn} base units where the swap before yields ${this.#yielded}`);
      }
    } else if (exactIn) {
      if (mostIn !== amount) this.#refuse(`it lets ${mostIn} base units go in where ${amount} were asked for`);
    } else {
      // A venue without an exact-output instruction takes the estimated input and is told to deliver the exact output.
      const most = exact === "out" || legs[0]!.inAmount > threshold ? threshold : legs[0]!.inAmount;
      if (mostIn !== most) this.#refuse(`it lets ${mostIn} base units go in where slippage sets ${most}`);
    }
    if (this.#swaps < legs.length) return;
    const least = exactIn ? threshold : amount;
    if (leastOut !== least) {
      this.#refuse(
        `it accepts ${leastOut} base units where ${exactIn ? "slippage sets" : "the request says"} ${least}`,
      );
    }
  }

  /** The wrapped-SOL account must be open, and hold what this swap may take and its own rent, no more. */
  #usePassing(spent: bigint): void {
    const passing = this.#passing;
    if (passing === undefined) return;
    if (!passing.initialized || passing.closed) {
      this.#refuse("the wrapped-SOL account is not open when the swap runs", passing.address);
    }
    if (passing.used) return;
    passing.used = true;
    // Where a venue has no exact output, it takes less than slippage allows; what is left over comes back at the end.
    const { mode, threshold, inMint } = this.#trade;
    const allowed = mode === "exactOut" && inMint === SOL_MINT && spent > 0n ? [spent, threshold] : [spent];
    const fits = (lamports: bigint) => (passing.associated ? lamports === 0n : isTokenAccountRent(lamports));
    if (!allowed.some((most) => fits(passing.lamports - most))) {
      this.#refuse(
        `the wrapped-SOL account is given ${sol(passing.lamports)} SOL where ${sol(spent)}${passing.associated ? "" : " and its rent"} are needed`,
        passing.address,
      );
    }
  }

  /** Where the wallet may pay from and receive at: its associated accounts, and for SOL the passing account alone. */
  #swapContext(leg: ExpectedLeg, nativeSol: boolean): SwapContext {
    const { wallet } = this.#trade;
    const passing = this.#passing === undefined ? [] : [this.#passing.address];
    const held = (mint: Address): ReadonlySet<Address> =>
      mint === SOL_MINT && !nativeSol ? new Set(passing) : this.#tokenAccounts.get(mint)!;
    return {
      ...leg,
      wallet,
      sources: held(leg.inMint),
      destinations: held(leg.outMint),
      own: new Set([wallet, ...passing, ...Array.from(this.#tokenAccounts.values(), (set) => [...set]).flat()]),
    };
  }

  #write(...accounts: readonly MessageAccount[]): void {
    for (const { index } of accounts) this.#written.add(index);
  }

  /** Compute price × limit and tips, as the runtime charges them. */
  #checkPriority(): void {
    const { maxPriorityLamports, tipLamports } = this.#trade;
    const { config } = this.#transaction;
    if (config !== undefined && this.#seen.has("computeUnitPrice")) {
      this.#refuse("it sets its priority fee twice");
    }
    if (this.#units === undefined && this.#unitPrice !== undefined) {
      this.#refuse("it pays for priority without limiting its compute units");
    }
    const fee =
      (BigInt(this.#units ?? 0) * (this.#unitPrice ?? 0n) + MICRO - 1n) / MICRO + (config?.priorityFeeLamports ?? 0n);
    if (fee + this.#tips > maxPriorityLamports) {
      this.#refuse(`priority costs ${sol(fee + this.#tips)} SOL, more than the ${sol(maxPriorityLamports)} allowed`);
    }
    if (this.#tips !== tipLamports) {
      this.#refuse(`it tips ${sol(this.#tips)} SOL where the service said ${sol(tipLamports)}`);
    }
    if (config?.heapSize !== undefined) this.#refuse("it asks for a larger heap, which no trade needs");
  }

  /** No account without a purpose, and none writable without one. */
  #checkRights(): void {
    const { accounts, instructions } = this.#transaction;
    const programs = new Set(instructions.map(({ program }) => program));
    for (const { index, address, writable } of accounts) {
      if (index !== 0 && !this.#named.has(index) && !programs.has(address)) {
        this.#refuse("it names an account that no instruction uses", address);
      }
      if (writable && !this.#written.has(index)) {
        this.#refuse("an account may be written although the trade only reads it", address);
      }
      if (writable && (programs.has(address) || baseProgramName(address) !== undefined)) {
        this.#refuse("a program is marked as written", address);
      }
    }
  }
}

/** The associated token accounts a wallet can have for a mint, one per token program. */
function ownTokenAccounts(wallet: Address, mint: Address): ReadonlySet<Address> {
  const plain = tokenAccountAddress(wallet, mint, TOKEN_PROGRAM);
  return mint === SOL_MINT ? new Set([plain]) : new Set([plain, tokenAccountAddress(wallet, mint, TOKEN_2022_PROGRAM)]);
}

/** True for what a token account may hold as rent. It comes back when the account is closed. */
function isTokenAccountRent(lamports: bigint): boolean {
  const perByte = lamports / RENT_BYTES;
  return lamports % RENT_BYTES === 0n && perByte >= LEAST_RENT_PER_BYTE && perByte <= MOST_RENT_PER_BYTE;
}

/** The account worth naming in a refusal: the first that is not the wallet. */
function firstStranger({ accounts, program }: MessageInstruction, wallet: Address): Address {
  return accounts.find(({ address }) => address !== wallet)?.address ?? program;
}

function sol(lamports: bigint): string {
  return formatAmount(lamports, 9);
}
