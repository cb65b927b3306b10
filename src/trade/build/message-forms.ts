import type { ChainHead, SenderChoice, Tip } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { MarketFault, Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { MAX_COMPUTE_UNITS, MAX_INSTRUCTIONS } from "../../solana/compute-budget.ts";
import type { Instruction } from "../../solana/instruction.ts";
import { messageForm } from "../../solana/message/message-template.ts";
import {
  compileMessageV1,
  compileWithin,
  type LookupTable,
  MAX_TRANSACTION_ACCOUNTS,
  MAX_TRANSACTION_SIZE,
  MAX_TRANSACTION_SIZE_V1,
  SIGNATURE_SIZE,
} from "../../solana/message.ts";
import { transferLamports } from "../../solana/token/token-instructions.ts";
import type { Intent } from "../intent.ts";
import { leanRoute, olderRoute } from "../quote/lean-route.ts";
import type { Misfit } from "../quote/no-route.ts";
import type { Route } from "../quote/route.ts";
import type { Snapshot } from "../quote/snapshot.ts";
import type { Costs, TradeRequest } from "../trade.ts";
import { assemble } from "./assembly.ts";
import {
  BUDGET_INSTRUCTIONS,
  BUDGET_UNITS,
  type Budget,
  type BudgetPorts,
  type BudgetSettings,
  budgetFor,
  estimateCosts,
  writeBudget,
} from "./budget.ts";
import { type Assembly, NOTHING_ASSEMBLED, type Wrapping } from "./parts/assembled.ts";
import { UNITS } from "./parts/compute-units.ts";
import { UnbuildableMarket } from "./unbuildable-market.ts";
import {
  payingFault,
  receivingFault,
  type WalletAccounts,
  walletTokenAccount,
  wrappedSolAccount,
} from "./wallet-accounts.ts";

/** Which forms a message may take. */
export interface MessageSettings extends BudgetSettings {
  /** Whether a route that fits no other form may become a version 1 transaction, which not every wallet can read yet. */
  readonly transactionV1: boolean;
}

/** What composing a message reads, all from memory. */
export interface MessagePorts extends BudgetPorts {
  readonly markets: Pick<Markets, "account">;
  readonly head: Pick<ChainHead, "rentExemption">;
  /** Lookup tables the operator offers, as they are on the chain. */
  readonly lookupTables: () => readonly LookupTable[];
  /** Lamports the chain charges for a transaction with one signature, without priority. */
  readonly baseFee: () => bigint;
  readonly settings: MessageSettings;
}

/** What the messages of all routes of a trade share. */
export interface MessageTerms {
  readonly request: Pick<TradeRequest, "priority" | "maxTransactionVersion" | "totalGuard">;
  readonly intent: Intent;
  readonly accounts: WalletAccounts;
  readonly snapshot: Snapshot;
  readonly blockhash: Uint8Array;
  /** A number that differs between builds. */
  readonly nonce: number;
  /** Seed of the temporary wrapped-SOL account, from a cryptographic source. */
  readonly seed: string;
  readonly choice: SenderChoice;
}

/** The message of a route, in the form that was chosen for it. */
export interface ComposedMessage {
  readonly route: Route;
  readonly assembly: Assembly;
  readonly costs: Costs;
  /** Micro-lamports per compute unit. */
  readonly unitPrice: bigint;
  /** Empty if it has more bytes than any transaction, or if there is none. */
  readonly message: Uint8Array;
  /** False if no form fits into a transaction; this one is the smallest. */
  readonly fits: boolean;
  /** True if the trade may exceed the compute units or instructions of a transaction in every form. */
  readonly overUnits: boolean;
  /** Bytes of the transaction, with its signature. */
  readonly transactionBytes: number;
  /** Number of its accounts, if these keep it from fitting although a form has room for its bytes (tables or version 1). */
  readonly accounts?: number;
  /** Accounts that may or may not exist: once that is known, the message may be another one, or fit in another form. */
  readonly unknown: readonly Address[];
  /** Why there is no message: a market of the route cannot be traded. */
  readonly fault?: MarketFault;
}

const NO_TABLES: readonly LookupTable[] = [];
/** One signature and its count precede the message. */
const TRANSACTION_OVERHEAD = 1 + SIGNATURE_SIZE;
const MAX_MESSAGE_SIZE = MAX_TRANSACTION_SIZE - TRANSACTION_OVERHEAD;
/** Above what a form of version 0 without a table saves against the plain one: the guard, or what opens the temporary account. Bytes. */
const MOST_SAVED_BY_FORMS = 512;
const NOT_WRITTEN = new Uint8Array(0);

/**
 * Composes the message of a route, in the first of these forms that fits:
 *
 * 1. plain, with the guard of the total if it has one, then without;
 * 2. with SOL wrapped in the wallet's own account, if it has none;
 * 3. all of these again, through the operator's lookup tables;
 * 4. version 1, if the caller can sign it and the settings allow it;
 * 5. all of these again, by the older instructions of venues, which name fewer accounts;
 * 6. and without the accounts that swaps need only if the price moves far.
 *
 * None fits if a market of the route turns out not to be tradable: then its routes are lost, not the trade.
 */
export function composeMessage(ports: MessagePorts, terms: MessageTerms, route: Route): ComposedMessage {
  try {
    return composeLeaner(ports, terms, route);
  } catch (error) {
    if (error instanceof UnbuildableMarket) return unbuildable(route, error.fault);
    throw error;
  }
}

/** The first form that fits: with the route's own swaps, else with leaner ones. */
function composeLeaner(ports: MessagePorts, terms: MessageTerms, route: Route): ComposedMessage {
  const composed = composeForms(ports, terms, route);
  if (composed.fits || composed.overUnits) return composed;
  const older = olderRoute(route);
  const lean = leanRoute(older);
  if (lean === route) return composed;
  const leanest = composeForms(ports, terms, lean);
  // With fewer arrays the trade fails if prices move far: they are left out only if the older instructions are not enough.
  if (lean !== older && older !== route && (leanest.fits || leanest.overUnits)) {
    const roomier = composeForms(ports, terms, older);
    if (roomier.fits) return roomier;
  }
  // Leaner swaps may take more units, because a program searches for accounts that are not named. Then the cause is still the bytes or
  // accounts of the route itself.
  if (leanest.overUnits) return composed;
  return leanest.fits ? leanest : { ...leanest, route };
}

/** The first form that fits, with the swaps of the route as they are. */
function composeForms(ports: MessagePorts, terms: MessageTerms, route: Route): ComposedMessage {
  const plain = formOf(ports, terms, route, "seeded", terms.request.totalGuard);
  const composed = compileForm(plain, terms, NO_TABLES);
  if (composed.fits) return composed;
  if (composed.overUnits) {
    // The guard needs compute units too.
    return plain.assembly.isGuarded ? composeForms(ports, withoutGuard(terms), route) : composed;
  }
  const smaller = composeSmaller(ports, terms, plain, composed);
  // Compute units are not the problem: the plain form stays below their limit.
  return smaller.fits ? smaller : { ...smaller, overUnits: false };
}

const withoutGuard = (terms: MessageTerms): MessageTerms => ({
  ...terms,
  request: { ...terms.request, totalGuard: false },
});

/** Stands for a message that cannot be made. */
function unbuildable(route: Route, fault: MarketFault): ComposedMessage {
  const none = { unitPrice: 0n, message: NOT_WRITTEN, fits: false, overUnits: false, transactionBytes: 0, unknown: [] };
  return { route, assembly: NOTHING_ASSEMBLED, costs: NO_COSTS, ...none, fault };
}

const NO_COSTS: Costs = { baseFee: 0n, priorityFee: 0n, tip: 0n, rentPaid: 0n, rentReturned: 0n };

/** Why a message fits into no transaction. */
export function misfitOf({ overUnits, transactionBytes, accounts, fault }: ComposedMessage): Misfit {
  return { overUnits, transactionBytes, accounts, fault };
}

/** Everything of a message but its encoding. */
interface MessageForm {
  readonly route: Route;
  readonly assembly: Assembly;
  readonly budget: Budget;
  readonly costs: Costs;
}

function formOf(
  ports: MessagePorts,
  terms: MessageTerms,
  route: Route,
  wrapping: Wrapping,
  guardsTotal?: boolean,
): MessageForm {
  const { request, nonce, choice } = terms;
  const accounts = accountsOf(route, terms);
  rejectUnusable(ports.markets, route, accounts);
  const trade = assemble(ports, terms, route, accounts, wrapping, guardsTotal);
  const assembly = withTips(trade, accounts.wallet, choice.tips);
  const budget = budgetFor(ports, request, route, assembly, nonce);
  return {
    route,
    assembly,
    budget,
    costs: estimateCosts(ports.baseFee(), budget, assembly, choice.tips),
  };
}

/** Tries the forms after the plain one. Returns the smallest, not fitting, if none of them fits. */
function composeSmaller(
  ports: MessagePorts,
  terms: MessageTerms,
  plain: MessageForm,
  composed: ComposedMessage,
): ComposedMessage {
  const { wallet } = terms.accounts;
  const tables = ports.lookupTables();
  const isV1 = ports.settings.transactionV1 && terms.request.maxTransactionVersion === 1;
  const isHopeless = tables.length === 0 && composed.transactionBytes > MAX_TRANSACTION_SIZE + MOST_SAVED_BY_FORMS;
  if (isV1 && isHopeless) {
    const inV1 = composeV1(plain, terms);
    if (inV1 !== undefined) return inV1;
  }
  const { address: own } = wrappedSolAccount(wallet);
  const wraps = plain.assembly.temporaryRent > 0n;
  const held = wraps ? ports.markets.account(own) : undefined;
  const forms = [plain];
  // The guard takes a few bytes; without it, the markets' own bounds protect the sum.
  if (plain.assembly.isGuarded) forms.push(formOf(ports, terms, plain.route, "seeded"));
  if (held === null) forms.push(formOf(ports, terms, plain.route, "associated"));
  // Forms without a table go first: a client can check those without asking a node.
  let smallest = composed;
  for (const lookupTables of tables.length === 0 ? [NO_TABLES] : [NO_TABLES, tables]) {
    for (const form of forms) {
      if (form === plain && lookupTables === NO_TABLES) continue;
      const next = compileForm(form, terms, lookupTables);
      if (next.fits) return next;
      // A form with too many accounts does not count as smaller, whatever its bytes.
      if (next.transactionBytes > MAX_TRANSACTION_SIZE && next.transactionBytes < smallest.transactionBytes)
        smallest = next;
    }
  }
  const inV1 = isV1 ? composeV1(plain, terms) : undefined;
  if (inV1 !== undefined) return inV1;
  const mayWrapInOwn = wraps && held === undefined && !isHopeless;
  const unknown = mayWrapInOwn ? [...smallest.unknown, own] : smallest.unknown;
  if (!isV1 && tables.length === 0) return { ...smallest, unknown };
  return { ...smallest, unknown, accounts: accountCount(plain.assembly.instructions) };
}

function compileForm(
  { route, assembly, budget, costs }: MessageForm,
  { accounts, blockhash }: MessageTerms,
  lookupTables: readonly LookupTable[],
): ComposedMessage {
  // Messages over several markets are too diverse to cache.
  const kind = route.steps.length === 1 ? route.steps[0]!.hot.market.address : undefined;
  const { instructions } = assembly;
  const { source, destination } = accounts;
  // The trade's own token account is the first that is created, if it is.
  const opens = destination !== undefined && assembly.creates[0]?.address === destination.address;
  const form = messageForm(source !== undefined, opens);
  const plan = { payer: accounts.wallet, blockhash, instructions, lookupTables, kind, form };
  const compiled = compileWithin(plan, MAX_MESSAGE_SIZE);
  const [message, size] = typeof compiled === "number" ? [NOT_WRITTEN, compiled] : [compiled, compiled.length];
  if (message !== NOT_WRITTEN) writeBudget(message, budget);
  const overUnits =
    assembly.computeUnits + BUDGET_UNITS > MAX_COMPUTE_UNITS || instructions.length + assembly.calls > MAX_INSTRUCTIONS;
  // Without a table, a message with too many accounts also has too many bytes.
  const isCrowded = lookupTables.length > 0 && accountCount(instructions) > MAX_TRANSACTION_ACCOUNTS;
  const fits = size <= MAX_MESSAGE_SIZE && !isCrowded && !overUnits;
  const transactionBytes = size + TRANSACTION_OVERHEAD;
  const unitPrice = budget.priceMicroLamports;
  return { route, assembly, costs, unitPrice, message, fits, overUnits, transactionBytes, unknown: assembly.unknown };
}

/** Number of accounts of a message. The payer signs for an instruction, so it is already counted there. */
function accountCount(instructions: readonly Instruction[]): number {
  const used = new Set<Address>();
  for (const { program, accounts } of instructions) {
    used.add(program);
    for (const { address } of accounts) used.add(address);
  }
  return used.size;
}

/** The form as a version 1 message, whose header holds the budget; undefined if it has too many accounts or bytes. */
function composeV1(form: MessageForm, { accounts, blockhash }: MessageTerms): ComposedMessage | undefined {
  const { route, assembly, budget, costs } = form;
  const { computeUnitLimit, loadedBytesLimit, priceMicroLamports: unitPrice } = budget;
  const instructions = assembly.instructions.slice(BUDGET_INSTRUCTIONS.length);
  const plan = { payer: accounts.wallet, blockhash, instructions, lookupTables: NO_TABLES };
  try {
    const message = compileMessageV1(plan, {
      priorityFeeLamports: costs.priorityFee,
      computeUnitLimit,
      loadedBytesLimit,
    });
    const transactionBytes = message.length + SIGNATURE_SIZE;
    if (transactionBytes > MAX_TRANSACTION_SIZE_V1) return undefined;
    const { unknown } = assembly;
    return { route, assembly, costs, unitPrice, message, fits: true, overUnits: false, transactionBytes, unknown };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The wallet's accounts on a route. SOL between two markets stays in a temporary account of the transaction. */
function accountsOf({ remainders }: Route, { accounts, snapshot }: MessageTerms): WalletAccounts {
  if (remainders.length === 0) return accounts;
  const intermediate = remainders.flatMap(({ mint: between }) => {
    const mint = snapshot.hubs.find(({ hub }) => hub === between)!.mint;
    const account = walletTokenAccount(accounts.wallet, mint);
    return account === undefined ? [] : [{ mint, account }];
  });
  return intermediate.length === 0 ? accounts : { ...accounts, intermediate };
}

/**
 * Anyone can open a wallet's account of a mint, and the mint's freeze authority can freeze it: then no trade of the wallet can pass through
 * that mint. The same holds for an account whose owner was changed.
 *
 * @throws UnbuildableMarket
 */
function rejectUnusable(
  markets: MessagePorts["markets"],
  { steps }: Route,
  { intermediate, wallet }: WalletAccounts,
): void {
  for (const { account } of intermediate) {
    const held = markets.account(account.address);
    for (const step of steps) {
      const { hot, quote } = step;
      if (quote.outMint !== account.mint) continue;
      const fault = payingFault(held, wallet) ?? receivingFault(held, wallet, [step], account.mint);
      if (fault === undefined) continue;
      const reason = `the wallet's account of ${account.mint} ${fault}`;
      throw new UnbuildableMarket(hot, new TradewireError("NO_ROUTE", reason), false);
    }
  }
}

/** Appends the tips of the chosen senders. They are paid last, so that a trade that fails pays none. */
function withTips(assembly: Assembly, payer: Address, tips: readonly Tip[]): Assembly {
  if (tips.length === 0) return assembly;
  return {
    ...assembly,
    instructions: [...assembly.instructions, ...tips.map(({ to, lamports }) => transferLamports(payer, to, lamports))],
    computeUnits: assembly.computeUnits + tips.length * UNITS.transfer,
  };
}
