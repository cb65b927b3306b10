import type { Address } from "../../primitives/address.ts";
import { maximumIn } from "../../primitives/slippage.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { type BaseInstruction, nameInstruction, readBaseInstruction } from "./base-instruction.ts";
import { addressWithSeed, tokenAccountAddress } from "./derived-address.ts";
import {
  findSwapTable,
  hasExactOutput,
  isPreparation,
  isVenueProgram,
  placesOf,
  preparationFaults,
  type SwapContext,
  swapBounds,
  swapFaults,
} from "./match-swap.ts";
import {
  checkPriority,
  checkRent,
  checkRights,
  checkRoom,
  checkSigners,
  inSol,
  type Refuse,
} from "./message-checks.ts";
import type { Problem } from "./problem.ts";
import type { MessageAccount, MessageInstruction, ReadTransaction } from "./read-transaction.ts";
import type { ExpectedLeg } from "./route/announced-route.ts";
import { SwapAmounts } from "./route/swap-amounts.ts";
import { isTipAccount } from "./tip-accounts.ts";
import type { TradeExpectation } from "./trade-expectation.ts";
import { createSearch, type LadderSearch } from "./venues/ladder.ts";
import type { SwapTable } from "./venues/swap-table.ts";
import { TemporaryAccount } from "./wrapped-sol/temporary-account.ts";
import { guardFault, type PayingSwap } from "./wrapped-sol/total-guard.ts";

const TOKEN_ACCOUNT_SIZE = 165n;

/**
 * Everything in a transaction that the expected trade does not explain. Empty if it is that trade and nothing else.
 * @param search bounds the work of finding arrays of ticks and bins
 */
export function findProblems(
  transaction: ReadTransaction,
  expectation: TradeExpectation,
  search = createSearch(),
): readonly Problem[] {
  return new Verification(transaction, expectation, search).run();
}

/** One pass over a message. Whatever the trade does not explain becomes a problem: an instruction, an account, a right. */
class Verification {
  readonly #transaction: ReadTransaction;
  readonly #trade: TradeExpectation;
  readonly #search: LadderSearch;
  readonly #problems: Problem[] = [];
  /** Indices of accounts that an instruction uses, and of those that a verified instruction may write. */
  readonly #named = new Set<number>();
  readonly #written = new Set<number>([0]);
  /** The wallet's associated token accounts by traded mint. */
  readonly #tokenAccounts: ReadonlyMap<Address, ReadonlySet<Address>>;
  /** Token accounts that may be created at the wallet's expense and stay its own. */
  #created = 0;
  /** Those of them for mints between markets. */
  #middles = 0;
  readonly #seen = new Set<string>();
  #at = 0;
  #units: number | undefined;
  #unitPrice: bigint | undefined;
  #loadedBytes: number | undefined;
  #tips = 0n;
  #temporary: TemporaryAccount | undefined;
  #swaps = 0;
  /** The markets not traded yet. */
  readonly #left: ExpectedLeg[];
  readonly #amounts: SwapAmounts;
  /** The swaps that pay the output, and whether their sum is bounded by itself. */
  readonly #paying: PayingSwap[] = [];
  #isGuarded = false;

  constructor(transaction: ReadTransaction, trade: TradeExpectation, search: LadderSearch) {
    this.#transaction = transaction;
    this.#search = search;
    this.#trade = trade;
    this.#left = [...trade.legs];
    this.#amounts = new SwapAmounts(trade);
    const mints = new Set(trade.legs.flatMap(({ inMint, outMint }) => [inMint, outMint]));
    this.#tokenAccounts = new Map(Array.from(mints, (mint) => [mint, ownTokenAccounts(trade, mint)]));
  }

  run(): readonly Problem[] {
    const { instructions } = this.#transaction;
    checkSigners(this.#transaction, this.#trade.wallet, (...problem) => this.#refuse(...problem));
    for (const [index, instruction] of instructions.entries()) {
      this.#at = index + 1;
      this.#checkInstruction(instruction);
    }
    this.#at = 0;
    this.#checkSwapsDone();
    this.#checkAccountsEnd();
    this.#checkMessage();
    return this.#problems;
  }

  /** The route was traded as a whole, and its swaps together keep the order. */
  #checkSwapsDone(): void {
    const { length } = this.#trade.legs;
    if (this.#swaps !== length) this.#refuse(`it contains ${this.#swaps} swaps, but the route has ${length}`);
    if (this.#left.length > 0) return;
    for (const fault of this.#amounts.sumFaults(this.#isGuarded)) this.#refuse(fault);
  }

  /** The accounts that the trade must close are closed. */
  #checkAccountsEnd(): void {
    const temporary = this.#temporary;
    if (temporary !== undefined) {
      const funding = temporary.fundingFault();
      if (funding !== undefined) this.#refuse(funding, temporary.address);
      if (!temporary.isClosed) this.#refuse("it leaves the temporary wrapped-SOL account open", temporary.address);
      if (!temporary.isUsed) this.#refuse("no swap uses the temporary wrapped-SOL account", temporary.address);
    }
    if (this.#trade.closesSource && !this.#seen.has("close emptied account")) {
      this.#refuse("it leaves the emptied token account open, but its rent should be returned");
    }
  }

  /** What the whole message costs, and which rights it takes. */
  #checkMessage(): void {
    const refuse: Refuse = (...problem) => this.#refuse(...problem);
    const [transaction, trade] = [this.#transaction, this.#trade];
    const paid = { units: this.#units, unitPrice: this.#unitPrice, tips: this.#tips };
    checkPriority(transaction, trade, paid, refuse);
    checkRoom(transaction, trade.legs.length, { units: this.#units, loadedBytes: this.#loadedBytes }, refuse);
    checkRent(trade, this.#created, this.#middles, refuse);
    checkRights(transaction, this.#named, this.#written, refuse);
  }

  #refuse(reason: string, account?: Address): void {
    this.#problems.push({ instruction: this.#at === 0 ? undefined : this.#at, account, reason });
  }

  #checkInstruction(instruction: MessageInstruction): void {
    for (const { index } of instruction.accounts) this.#named.add(index);
    const base = readBaseInstruction(instruction);
    if (base !== undefined) this.#checkBase(base);
    else if (isVenueProgram(instruction.program)) this.#checkVenue(instruction);
    else this.#refuse(nameInstruction(instruction), firstStranger(instruction, this.#trade.wallet));
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
        this.#loadedBytes = instruction.bytes;
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
      case "requireBalance":
        this.#checkGuard(instruction);
        return;
      case "closeTokenAccount":
        this.#checkClose(instruction);
        return;
    }
  }

  #once(kind: string): void {
    if (this.#seen.has(kind)) this.#refuse("it repeats an instruction that may appear only once");
    this.#seen.add(kind);
  }

  /** A token account to receive into, paid and owned by the wallet. */
  #checkCreate(create: Extract<BaseInstruction, { kind: "createTokenAccount" }>): void {
    const { wallet, legs } = this.#trade;
    this.#once(`${create.kind} ${create.mint}`);
    if (create.payer.address !== wallet) this.#refuse("another account pays for a token account", create.payer.address);
    if (create.owner !== wallet) this.#refuse("it creates a token account for another owner", create.owner);
    const passes = create.mint === SOL_MINT && this.#tokenAccounts.has(SOL_MINT) && this.#temporary === undefined;
    if (passes) {
      this.#temporary = TemporaryAccount.associated(create.account.address);
    } else if (create.mint === SOL_MINT || !legs.some(({ outMint }) => outMint === create.mint)) {
      this.#refuse("it creates a token account for a mint that this trade does not receive", create.mint);
    } else {
      this.#created += 1;
      if (create.mint !== this.#trade.outMint) this.#middles += 1;
    }
    if (create.tokenProgram !== TOKEN_PROGRAM && create.tokenProgram !== TOKEN_2022_PROGRAM) {
      this.#refuse("it creates a token account with a program that is not a token program", create.tokenProgram);
    } else if (create.account.address !== tokenAccountAddress(wallet, create.mint, create.tokenProgram)) {
      this.#refuse("the token account it creates is not derived from the wallet", create.account.address);
    }
    this.#write(create.payer, create.account);
  }

  /** A transfer either funds the wrapped-SOL account before the swap that spends it, or is an announced tip. */
  #checkTransfer({ from, to, lamports }: Extract<BaseInstruction, { kind: "transferLamports" }>): void {
    const temporary = this.#temporary;
    if (from.address !== this.#trade.wallet) this.#refuse("it transfers SOL from another account", from.address);
    this.#write(from, to);
    if (to.address === temporary?.address) {
      if (temporary.fund(lamports)) return;
      this.#refuse("it adds SOL to the temporary wrapped-SOL account", to.address);
    }
    const { tipAccounts } = this.#trade;
    if (!isTipAccount(to.address) && tipAccounts !== "any" && !tipAccounts.has(to.address)) {
      this.#refuse(`it transfers ${inSol(lamports)} SOL to an account outside this trade`, to.address);
    }
    this.#tips += lamports;
  }

  #checkSync({ account }: Extract<BaseInstruction, { kind: "syncWrappedSol" }>): void {
    this.#once("syncWrappedSol");
    if (!this.#temporary?.isAssociated || account.address !== this.#temporary.address) {
      this.#refuse("it syncs a wrapped-SOL account that this trade does not open", account.address);
    }
    this.#write(account);
  }

  /** Opens the temporary wrapped-SOL account with its rent and the SOL that may be spent. */
  #checkOpen(open: Extract<BaseInstruction, { kind: "createWithSeed" }>): void {
    const { wallet } = this.#trade;
    this.#once(open.kind);
    if (this.#temporary !== undefined) {
      this.#refuse("it opens a second wrapped-SOL account", open.account.address);
    }
    if (!this.#tokenAccounts.has(SOL_MINT)) {
      this.#refuse("it opens a wrapped-SOL account, but SOL is not traded", open.account.address);
    }
    if (open.payer.address !== wallet || open.base !== wallet) {
      this.#refuse("the account it opens is not paid by, or not derived from, the wallet", open.payer.address);
    }
    if (open.owner !== TOKEN_PROGRAM || open.space !== TOKEN_ACCOUNT_SIZE) {
      this.#refuse("the account it opens is not a token account", open.owner);
    }
    if (open.account.address !== addressWithSeed(wallet, open.seed, TOKEN_PROGRAM)) {
      this.#refuse("the account it opens does not derive from the wallet", open.account.address);
    }
    this.#temporary = TemporaryAccount.withSeed(open.account.address, open.lamports);
    this.#write(open.payer, open.account);
  }

  #checkInitialize({ account, mint, owner }: Extract<BaseInstruction, { kind: "initializeTokenAccount" }>): void {
    this.#once("initializeTokenAccount");
    if (account.address !== this.#temporary?.address) {
      this.#refuse("it initializes a token account that this trade does not open", account.address);
    } else this.#temporary.initialize();
    if (mint !== SOL_MINT) this.#refuse("it initializes the temporary wrapped-SOL account for another mint", mint);
    if (owner !== this.#trade.wallet)
      this.#refuse("it initializes the temporary wrapped-SOL account for another owner", owner);
    this.#write(account);
  }

  /** A bound on the sum of what the swaps before it yield, instead of a bound on each of them. */
  #checkGuard(guard: Extract<BaseInstruction, { kind: "requireBalance" }>): void {
    this.#once(guard.kind);
    const fault = guardFault(guard, {
      trade: this.#trade,
      isRow: this.#amounts.isRow,
      temporary: this.#temporary,
      paying: this.#paying,
      swapsLeft: this.#left.length,
    });
    if (fault === undefined) this.#isGuarded = true;
    else this.#refuse(fault, guard.account.address);
  }

  #checkClose(close: Extract<BaseInstruction, { kind: "closeTokenAccount" }>): void {
    const { wallet, closesSource, inMint } = this.#trade;
    const { account, to, authority, tokenProgram } = close;
    if (to.address !== wallet) this.#refuse("it closes an account and sends its SOL to another account", to.address);
    if (authority.address !== wallet) this.#refuse("it closes an account under another authority", authority.address);
    if (this.#swaps === 0) this.#refuse("it closes an account before the swap", account.address);
    if (account.address === this.#temporary?.address) {
      this.#once("close temporary account");
      this.#temporary.close();
      if (tokenProgram !== TOKEN_PROGRAM) this.#refuse("another program closes the temporary account", tokenProgram);
    } else if (closesSource && this.#tokenAccounts.get(inMint)?.has(account.address)) {
      this.#once("close emptied account");
      if (account.address !== tokenAccountAddress(wallet, inMint, tokenProgram)) {
        this.#refuse("another program closes the emptied account", tokenProgram);
      }
    } else this.#refuse("it closes an account that this trade does not open", account.address);
    this.#write(account, to);
  }

  /** A step that the next swap needs first, on the announced market. */
  #checkPreparation(instruction: MessageInstruction): void {
    const leg = this.#legOf(instruction);
    this.#once(`preparation ${leg?.market}`);
    const faults =
      leg === undefined
        ? [{ account: instruction.program, reason: "it prepares a swap that does not follow" }]
        : preparationFaults(instruction, this.#swapContext(leg, false));
    for (const { account, reason } of faults) this.#refuse(reason, account);
    this.#write(...instruction.accounts.slice(0, 2));
  }

  #checkVenue(instruction: MessageInstruction): void {
    if (isPreparation(instruction)) {
      this.#checkPreparation(instruction);
      return;
    }
    const table = findSwapTable(instruction);
    if (table === undefined) {
      this.#refuse("it calls a venue's program with an instruction unknown to this library", instruction.program);
      return;
    }
    const leg = this.#legOf(instruction);
    this.#swaps += 1;
    if (leg === undefined) {
      this.#refuse("it contains more swaps than the route", instruction.program);
      return;
    }
    this.#left.splice(this.#left.indexOf(leg), 1);
    this.#checkMarket(instruction, table, leg);
    // The bounds first: of a transaction that is refused anyway, no ladder of accounts is searched.
    this.#checkBounds(instruction, table, leg);
    this.#checkSwapAccounts(instruction, table, leg);
  }

  #checkMarket({ program, accounts }: MessageInstruction, table: SwapTable, leg: ExpectedLeg): void {
    if (leg.venue !== table.venue) {
      this.#refuse(`it trades on ${table.venue}, but the service announced ${leg.venue}`, program);
    }
    const marketAt = table.marketAt ?? table.accounts.findIndex(({ rule }) => rule.kind === "market");
    if (accounts[marketAt]?.address !== leg.market) {
      this.#refuse("it does not trade on the announced market", leg.market);
    }
  }

  /** What the swap may take and must give, by itself and with those before it. */
  #checkBounds({ data }: MessageInstruction, table: SwapTable, leg: ExpectedLeg): void {
    this.#checkExactness(table);
    const bounds = swapBounds(table, data);
    for (const fault of this.#amounts.add(leg, bounds, table)) this.#refuse(fault);
    if (leg.outMint === this.#trade.outMint) this.#paying.push({ leg, bounds, nativeSol: table.nativeSol });
    if (!table.nativeSol && (leg.inMint === SOL_MINT || leg.outMint === SOL_MINT)) {
      this.#useTemporary(leg, bounds.mostIn);
    }
  }

  #checkSwapAccounts(instruction: MessageInstruction, table: SwapTable, leg: ExpectedLeg): void {
    const context = this.#swapContext(leg, table.nativeSol);
    const places = placesOf(table, instruction, context);
    const faults = swapFaults(table, instruction, places, context, this.#problems.length > 0);
    for (const { account, reason } of faults) this.#refuse(reason, account);
    for (const [index, place] of places.entries()) {
      const account = instruction.accounts[index];
      if (place.writable && account !== undefined) this.#write(account);
    }
  }

  /** Bounds alone do not show which side is exact: the other one would be taken to its bound, whatever the market gives. */
  #checkExactness(table: SwapTable): void {
    const exactIn = this.#trade.mode === "exactIn";
    if (exactIn && table.exact === "out") {
      this.#refuse("its swap stops at an exact output, but the order is for an exact input");
    }
    if (!exactIn && table.exact === "in" && hasExactOutput(table)) {
      this.#refuse("its swap spends an exact input, but the order is for an exact output, which this venue can trade");
    }
  }

  /** The market that an instruction trades on, or prepares: in a row the next one, else the one that it names. */
  #legOf({ accounts }: MessageInstruction): ExpectedLeg | undefined {
    const named = this.#left.find(({ market }) => accounts.some(({ address }) => address === market));
    return this.#amounts.isRow ? this.#left[0] : (named ?? this.#left[0]);
  }

  /** The temporary account is open when a swap uses it. */
  #useTemporary({ inMint, inAmount }: ExpectedLeg, mostIn: bigint): void {
    const temporary = this.#temporary;
    if (temporary === undefined) return;
    if (!temporary.isOpen) {
      this.#refuse("the temporary wrapped-SOL account is not open when the swap runs", temporary.address);
    }
    if (inMint !== SOL_MINT) {
      temporary.receive();
      return;
    }
    const { mode, slippagePpb } = this.#trade;
    // A venue without exact output may take less than slippage allows; closing the account returns the rest.
    const isEstimated = mode === "exactOut" && inMint === this.#trade.inMint;
    temporary.spend(mostIn, isEstimated ? maximumIn(inAmount, slippagePpb) : mostIn);
  }

  /** Accounts the wallet may pay from and receive into: associated accounts, but for SOL only the temporary account. */
  #swapContext(leg: ExpectedLeg, nativeSol: boolean): SwapContext {
    const { wallet } = this.#trade;
    const temporary = this.#temporary === undefined ? [] : [this.#temporary.address];
    const held = (mint: Address): ReadonlySet<Address> =>
      mint === SOL_MINT && !nativeSol ? new Set(temporary) : this.#tokenAccounts.get(mint)!;
    return {
      ...leg,
      wallet,
      search: this.#search,
      sources: held(leg.inMint),
      destinations: held(leg.outMint),
      own: new Set([wallet, ...temporary, ...Array.from(this.#tokenAccounts.values(), (set) => [...set]).flat()]),
    };
  }

  #write(...accounts: readonly MessageAccount[]): void {
    for (const { index } of accounts) this.#written.add(index);
  }
}

/** The associated token accounts of a wallet for a mint, one per token program. */
function ownTokenAccounts({ wallet, plainMints }: TradeExpectation, mint: Address): ReadonlySet<Address> {
  const plain = tokenAccountAddress(wallet, mint, TOKEN_PROGRAM);
  return mint === SOL_MINT || plainMints?.has(mint) === true
    ? new Set([plain])
    : new Set([plain, tokenAccountAddress(wallet, mint, TOKEN_2022_PROGRAM)]);
}

/** The account to name in a problem: the first that is not the wallet. */
function firstStranger({ accounts, program }: MessageInstruction, wallet: Address): Address {
  return accounts.find(({ address }) => address !== wallet)?.address ?? program;
}
