import type { ChainHead, Lifetime, PriorityFees, SenderChoice, SenderPlan, Tip } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { formatAmount, LAMPORTS_PER_SOL, SOL_DECIMALS } from "../../primitives/amount.ts";
import type { Now } from "../../primitives/clock.ts";
import { MAX_COMPUTE_UNITS, priorityFeeLamports } from "../../solana/compute-budget.ts";
import { associatedTokenAccount } from "../../solana/derived-address.ts";
import {
  compileMessage,
  compileMessageV1,
  type LookupTable,
  MAX_TRANSACTION_SIZE,
  MAX_TRANSACTION_SIZE_V1,
  type MessageBudget,
  type MessagePlan,
  SIGNATURE_SIZE,
  unsignedTransaction,
} from "../../solana/message.ts";
import { SOL_MINT, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { transferLamports } from "../../solana/token-instructions.ts";
import { canonicalMint, type Intent, resolveIntent } from "../intent.ts";
import { legsOf, type Route } from "../quote/route.ts";
import { awaitSnapshot, routesOf, type Snapshot, takeSnapshot } from "../quote/snapshot.ts";
import type { BuiltTrade, Costs, TradeRequest } from "../trade.ts";
import {
  type Assembly,
  type AssemblyContext,
  assemble,
  type Budget,
  budgetInstructions,
  heldAccount,
  UNITS,
  type WalletAccounts,
  walletAccounts,
} from "./assembly.ts";
import { readBalanceShare } from "./balance-share.ts";
import { checkBalances } from "./balances.ts";
import { buildExpiresAtMs } from "./build-expiry.ts";
import { nativeSha256 } from "./native-sha256.ts";
import type { SealedTrade } from "./sealed-trade.ts";
import type { TokenSealer } from "./submission-token.ts";

/** What the build story reads; everything answers from memory once warm. */
export interface BuildPorts {
  readonly markets: Markets;
  readonly head: ChainHead;
  readonly fees: PriorityFees;
  readonly senders: SenderPlan;
  readonly sealer: TokenSealer;
  readonly now: Now;
  /** Lookup tables the operator offers, as they stand on the chain. */
  readonly lookupTables: () => readonly LookupTable[];
  /** Lamports the chain takes for a transaction with one signature, priority apart. */
  readonly baseFee: () => bigint;
  /**
   * A number below 2^14 that differs from build to build. It goes into the low bits of the loaded-bytes limit, so that the
   * same trade asked for twice is two messages, and lands twice.
   */
  readonly nextNonce: () => number;
  readonly settings: BuildSettings;
}

interface BuildSettings {
  /** Added to the measured bound of compute units. Percent. */
  readonly computeUnitMarginPercent: number;
  /** Bytes of accounts and programs a trade may load. */
  readonly loadedAccountsBytes: number;
  /** Kept between `expiresAt` and the end of the blockhash, for the way to the leader. Milliseconds. */
  readonly expiryMarginMs: number;
  /** Whether a route that does not fit otherwise may be a version 1 transaction, which not every wallet can read yet. */
  readonly transactionV1: boolean;
}

const NO_TABLES: readonly LookupTable[] = [];
/** One signature and its count stand before the message. */
const TRANSACTION_OVERHEAD = 1 + SIGNATURE_SIZE;
const MAX_MESSAGE_SIZE = MAX_TRANSACTION_SIZE - TRANSACTION_OVERHEAD;

/** What the message of a route is made from. */
interface MessageParts {
  readonly request: Pick<TradeRequest, "priority">;
  readonly intent: Intent;
  readonly accounts: WalletAccounts;
  readonly snapshot: Snapshot;
}

/** What composing a message reads. */
export interface ComposePorts extends Pick<BuildPorts, "head" | "fees" | "lookupTables" | "baseFee" | "settings"> {
  readonly markets: Pick<Markets, "account">;
}

/** A request resolved against what it concerns. */
interface Ready extends MessageParts {
  readonly request: TradeRequest;
}

/**
 * Builds an unsigned transaction: resolve, snapshot, quote, route, assemble, budget, compile, seal.
 * Warm builds run to the end without waiting; only what is not in memory yet makes it a promise.
 *
 * @throws TradewireError as CONTRACT of the build endpoints: VALIDATION_ERROR, TOKEN_NOT_FOUND, NO_ROUTE and the rest
 */
export function buildTrade(ports: BuildPorts, request: TradeRequest): BuiltTrade | Promise<BuiltTrade> {
  const { markets } = ports;
  if (request.sellPercent !== undefined) return buildCold(ports, request);
  const inMint = markets.mint(canonicalMint(request.inMint));
  const outMint = markets.mint(canonicalMint(request.outMint));
  if (inMint instanceof Promise || outMint instanceof Promise) return buildCold(ports, request);
  const intent = resolveIntent(request, inMint, outMint);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  if (!knowsWallet(markets, accounts)) return buildCold(ports, request);
  const snapshot = takeSnapshot(markets, intent.inMint.address, intent.outMint.address);
  if (snapshot === undefined) return buildCold(ports, request);
  return finish(ports, { request, intent, accounts, snapshot });
}

/** The same story where something has to be read first. */
async function buildCold(ports: BuildPorts, request: TradeRequest): Promise<BuiltTrade> {
  const { markets } = ports;
  const [inAddress, outAddress] = [canonicalMint(request.inMint), canonicalMint(request.outMint)];
  // Asked for before the mints are known, so that all is read in the same rounds.
  const snapshotting = inAddress === outAddress ? undefined : fetchSnapshot(markets, inAddress, outAddress);
  snapshotting?.catch(() => {});
  const [inMint, outMint] = await Promise.all([markets.mint(inAddress), markets.mint(outAddress)]);
  const { sellPercent } = request;
  const share =
    sellPercent === undefined || inMint === null || outMint === null
      ? undefined
      : await readBalanceShare(markets, request.principal.wallet, inMint, sellPercent);
  const intent = resolveIntent(request, inMint, outMint, share);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  const [snapshot] = await Promise.all([
    snapshotting ?? fetchSnapshot(markets, intent.inMint.address, intent.outMint.address),
    warmWallet(markets, accounts),
  ]);
  return finish(ports, { request, intent, accounts, snapshot });
}

/** From memory as far as it is there: what is known of hubs is not waited for again. */
async function fetchSnapshot(markets: Markets, inMint: Address, outMint: Address): Promise<Snapshot> {
  return takeSnapshot(markets, inMint, outMint) ?? awaitSnapshot(markets, inMint, outMint);
}

function finish(ports: BuildPorts, ready: Ready): BuiltTrade | Promise<BuiltTrade> {
  const built = tryBuild(ports, ready, true);
  if (built instanceof Unknown) return buildInformed(ports, ready, built);
  return built instanceof TradewireError ? buildRefreshed(ports, ready) : built;
}

/** Accounts of which it is not known whether they exist, and with that what the trade costs. */
class Unknown {
  readonly addresses: readonly Address[];

  constructor(addresses: readonly Address[]) {
    this.addresses = addresses;
  }
}

/** What is not known of the accounts the trade may create is read; a node that does not answer leaves them taken for missing. */
async function buildInformed(ports: BuildPorts, ready: Ready, { addresses }: Unknown): Promise<BuiltTrade> {
  await warmIfPossible(ports.markets, addresses);
  const built = tryBuild(ports, ready, false);
  return built instanceof TradewireError ? buildRefreshed(ports, ready) : built;
}

/** The wallet's balance as remembered does not suffice: it is read again before the caller is refused. */
async function buildRefreshed(ports: BuildPorts, ready: Ready): Promise<BuiltTrade> {
  await ports.markets.refresh(walletAddresses(ready.accounts));
  const built = tryBuild(ports, ready, false);
  if (built instanceof TradewireError) throw built;
  return built;
}

/** The warm path, or the balance error it ended in; with `mayAsk`, what has to be read for it to be exact. */
function tryBuild(ports: BuildPorts, ready: Ready, mayAsk: false): BuiltTrade | TradewireError;
function tryBuild(ports: BuildPorts, ready: Ready, mayAsk: true): BuiltTrade | TradewireError | Unknown;
function tryBuild(ports: BuildPorts, ready: Ready, mayAsk: boolean): BuiltTrade | TradewireError | Unknown {
  const { head, markets, sealer, settings } = ports;
  const { request, intent, accounts } = ready;
  const lifetime = head.lifetime();
  request.stages?.mark("snapshot");
  const { route, assembly, costs, message, senders } = composeBest(ports, ready, lifetime);
  if (mayAsk && assembly.unknown.length > 0) return new Unknown(assembly.unknown);
  request.stages?.mark("route");
  checkLimits(request, route, costs);
  const poor = checkBalances({
    intent,
    route,
    accounts,
    assembly,
    costs,
    markets,
    rentExemption: head.rentExemption(0),
  });
  if (poor !== undefined) return poor;

  const expiresAtMs = buildExpiresAtMs(head, lifetime.lastValidBlockHeight, ports.now(), settings.expiryMarginMs);
  const legs = legsOf(route);
  const { inMint, outMint } = intent;
  // Both are written out, field by field: an object that begins as a copy of another costs several times as much.
  const sealed: SealedTrade = {
    inMint: inMint.address,
    outMint: outMint.address,
    inDecimals: inMint.decimals,
    outDecimals: outMint.decimals,
    wallet: accounts.wallet,
    messageHash: nativeSha256(message),
    messageLength: message.length,
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
    buildSlot: lifetime.slot,
    stateSlot: route.stateSlot,
    expiresAtMs,
    costs,
    route: legs,
    creates: assembly.creates,
    closes: assembly.closes?.address,
    senders,
  };
  const submissionToken = sealer.seal(sealed, request.principal.accountId);
  request.stages?.mark("seal");
  return {
    inMint: inMint.address,
    outMint: outMint.address,
    inDecimals: inMint.decimals,
    outDecimals: outMint.decimals,
    submissionToken,
    unsignedTransaction: unsignedTransaction(message),
    expiresAtMs,
    platform: route.platform,
    estimates: estimatesOf(route),
    costs,
    route: legs,
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
  };
}

interface Composed {
  readonly route: Route;
  readonly assembly: Assembly;
  readonly costs: Costs;
  readonly message: Uint8Array;
  /** The senders whose tips are in the message. */
  readonly senders: readonly string[];
}

/** The best route whose transaction fits into what the network takes. */
function composeBest(ports: BuildPorts, ready: Ready, lifetime: Lifetime): Composed {
  const { head } = ports;
  const { intent, snapshot } = ready;
  const { routes } = routesOf(ports.markets, intent, snapshot, head.clock());
  const nonce = ports.nextNonce();
  const choice = ports.senders.choose(ready.request.priority, nonce);
  let least = Number.POSITIVE_INFINITY;
  for (const route of routes) {
    const composed = compose(ports, ready, lifetime, route, nonce, choice);
    if (typeof composed === "object") return composed;
    least = Math.min(least, composed);
  }
  throw tooLarge(least, ports.settings);
}

/** NO_ROUTE for a trade whose smallest transaction takes `bytes`: what the caller can do, and what the operator. */
export function tooLarge(bytes: number, { transactionV1 }: BuildSettings): TradewireError {
  const limit = transactionV1 ? MAX_TRANSACTION_SIZE_V1 : MAX_TRANSACTION_SIZE;
  const remedy = transactionV1 ? "LOOKUP_TABLES" : "LOOKUP_TABLES, TRANSACTION_V1";
  return new TradewireError(
    "NO_ROUTE",
    `Every route needs a transaction larger than the network takes: ${bytes} bytes at least, where ${limit} are the limit. Trade in two steps, by way of SOL or USDC. The operator can make room: ${remedy}.`,
    { details: { transactionBytes: bytes, limitBytes: limit, remedy } },
  );
}

/**
 * The message of a route, or the bytes of its smallest transaction where none fits. Its form is the first that fits: plain;
 * with SOL wrapped in the wallet's own account where it has none; both again through the operator's lookup tables; as
 * version 1 where that is allowed.
 */
export function compose(
  ports: ComposePorts,
  parts: MessageParts,
  { blockhash }: Pick<Lifetime, "blockhash">,
  route: Route,
  nonce: number,
  { senders, tips }: SenderChoice,
): Composed | number {
  const { markets, head, settings } = ports;
  const { request, intent } = parts;
  const accounts = accountsOf(route, parts);
  const payer = accounts.wallet;

  const inSeeded: AssemblyContext = { markets, head, nonce, wrapping: "seeded" };
  const seeded = withTips(assemble(intent, route, accounts, inSeeded), payer, tips);
  const budget = budgetFor(ports, request, route, seeded, nonce);
  const baseFee = ports.baseFee();
  const costs = estimateCosts(baseFee, budget, seeded, tips);
  const plan = {
    payer,
    blockhash,
    instructions: [...budgetInstructions(budget), ...seeded.instructions],
    lookupTables: NO_TABLES,
  };
  const message = compileMessage(plan);
  if (message.length <= MAX_MESSAGE_SIZE) return { route, assembly: seeded, costs, message, senders };

  const forms = [{ assembly: seeded, costs, plan }];
  if (
    seeded.passingRent > 0n &&
    markets.account(associatedTokenAccount(payer, SOL_MINT, TOKEN_PROGRAM).address) === null
  ) {
    const inOwn: AssemblyContext = { markets, head, nonce, wrapping: "associated" };
    const assembly = withTips(assemble(intent, route, accounts, inOwn), payer, tips);
    const budget = budgetFor(ports, request, route, assembly, nonce);
    const instructions = [...budgetInstructions(budget), ...assembly.instructions];
    forms.push({ assembly, costs: estimateCosts(baseFee, budget, assembly, tips), plan: { ...plan, instructions } });
  }
  // What needs no table can be checked without asking a node, so it goes first.
  const tables = ports.lookupTables();
  let least = message.length;
  for (const lookupTables of tables.length === 0 ? [NO_TABLES] : [NO_TABLES, tables]) {
    for (const { assembly, costs, plan } of forms) {
      const message = compileMessage({ ...plan, lookupTables });
      if (message.length <= MAX_MESSAGE_SIZE) return { route, assembly, costs, message, senders };
      least = Math.min(least, message.length);
    }
  }

  const leastBytes = least + TRANSACTION_OVERHEAD;
  if (!settings.transactionV1) return leastBytes;
  const { computeUnitLimit, loadedBytesLimit } = budget;
  const inHead = { priorityFeeLamports: costs.priorityFee, computeUnitLimit, loadedBytesLimit };
  const large = largeMessage({ ...plan, instructions: seeded.instructions }, inHead);
  return large === undefined ? leastBytes : { route, assembly: seeded, costs, message: large, senders };
}

/** The message as version 1; undefined where it has more accounts than that can name, or more bytes. */
function largeMessage(plan: MessagePlan, budget: MessageBudget): Uint8Array | undefined {
  try {
    const message = compileMessageV1(plan, budget);
    return message.length + SIGNATURE_SIZE <= MAX_TRANSACTION_SIZE_V1 ? message : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The wallet's accounts on a route, those of the mint it passes through with them. SOL passes through one of the transaction's own. */
function accountsOf({ steps }: Route, { accounts, snapshot }: MessageParts): WalletAccounts {
  if (steps.length === 1) return accounts;
  const passed = steps[0]!.quote.outMint;
  const mint = snapshot.hubs.find(({ hub }) => hub === passed)!.mint;
  const account = heldAccount(accounts.wallet, mint);
  return account === undefined ? accounts : { ...accounts, passing: [{ mint, account }] };
}

function checkLimits(request: TradeRequest, route: Route, costs: Costs): void {
  checkPriceImpact(request, route);
  const { maxPriorityCost, priority } = request;
  const paid = costs.priorityFee + costs.tip;
  if (maxPriorityCost === undefined || Number(paid) <= maxPriorityCost * Number(LAMPORTS_PER_SOL)) return;
  throw new TradewireError(
    "PRIORITY_COST_TOO_HIGH",
    `Priority ${priority} costs ${formatAmount(paid, SOL_DECIMALS)} SOL now, more than maxPriorityCost ${maxPriorityCost}. Ask for a lower priority, or allow more.`,
    { details: { priorityCostLamports: paid.toString() } },
  );
}

/** @throws TradewireError PRICE_IMPACT_TOO_HIGH when the route moves the price by more than the caller allows */
export function checkPriceImpact(
  { maxPriceImpact }: Pick<TradeRequest, "maxPriceImpact">,
  { priceImpact }: Route,
): void {
  if (maxPriceImpact === undefined || priceImpact <= maxPriceImpact) return;
  throw new TradewireError(
    "PRICE_IMPACT_TOO_HIGH",
    `The trade moves the price by ${priceImpact}, more than maxPriceImpact ${maxPriceImpact}. Trade less, or allow more.`,
    { details: { priceImpact } },
  );
}

/** What a route is expected to move. */
export function estimatesOf(route: Route): BuiltTrade["estimates"] {
  const { inAmount, outAmount, remainder, priceImpact, threshold } = route;
  return { inAmount, outAmount, remainder, priceImpact, threshold };
}

function budgetFor(
  ports: ComposePorts,
  request: Pick<TradeRequest, "priority">,
  route: Route,
  assembly: Assembly,
  nonce: number,
): Budget {
  const { settings, fees } = ports;
  const units = assembly.computeUnits + 3 * UNITS.computeBudget;
  return {
    computeUnitLimit: Math.min(Math.ceil((units * (100 + settings.computeUnitMarginPercent)) / 100), MAX_COMPUTE_UNITS),
    priceMicroLamports: fees.priceMicroLamportsPerCu(
      request.priority,
      route.steps.map(({ hot }) => hot.market.address),
    ),
    loadedBytesLimit: settings.loadedAccountsBytes - nonce,
  };
}

/** The trade with what its senders ask for, paid last: a trade that fails pays no tip. */
function withTips(assembly: Assembly, payer: Address, tips: readonly Tip[]): Assembly {
  if (tips.length === 0) return assembly;
  return {
    ...assembly,
    instructions: [...assembly.instructions, ...tips.map(({ to, lamports }) => transferLamports(payer, to, lamports))],
    computeUnits: assembly.computeUnits + tips.length * UNITS.transfer,
  };
}

function estimateCosts(baseFee: bigint, budget: Budget, assembly: Assembly, tips: readonly Tip[]): Costs {
  return {
    baseFee,
    priorityFee: priorityFeeLamports(budget.computeUnitLimit, budget.priceMicroLamports),
    tip: tips.reduce((sum, { lamports }) => sum + lamports, 0n),
    rentPaid: assembly.creates.reduce((sum, { rent }) => sum + rent, 0n),
    rentReturned: assembly.closes?.lamports ?? 0n,
  };
}

function walletAddresses({ wallet, source, destination }: WalletAccounts) {
  const wrapped = associatedTokenAccount(wallet, SOL_MINT, TOKEN_PROGRAM).address;
  return [wallet, wrapped, ...(source ? [source.address] : []), ...(destination ? [destination.address] : [])];
}

function knowsWallet(markets: Markets, { wallet, source, destination }: WalletAccounts): boolean {
  return (
    markets.account(wallet) !== undefined &&
    (source === undefined || markets.account(source.address) !== undefined) &&
    (destination === undefined || markets.account(destination.address) !== undefined)
  );
}

/** Reads the wallet's own accounts; a node that does not answer only costs the balance check. */
function warmWallet(markets: Markets, accounts: WalletAccounts): Promise<void> {
  return warmIfPossible(markets, walletAddresses(accounts));
}

async function warmIfPossible(markets: Markets, addresses: readonly Address[]): Promise<void> {
  try {
    await markets.warm(addresses);
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
  }
}
