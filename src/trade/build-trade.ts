import { hash } from "node:crypto";
import type { ChainHead, PriorityFees } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Markets, PairMarkets } from "../market/port.ts";
import { formatAmount, LAMPORTS_PER_SOL, SOL_DECIMALS } from "../primitives/amount.ts";
import type { Now } from "../primitives/clock.ts";
import { MAX_COMPUTE_UNITS, priorityFeeLamports } from "../solana/compute-budget.ts";
import { compileMessage, MAX_TRANSACTION_SIZE, unsignedTransaction } from "../solana/message.ts";
import type { Mint } from "../solana/mint.ts";
import {
  type Assembly,
  assemble,
  type Budget,
  budgetInstructions,
  UNITS,
  type WalletAccounts,
  walletAccounts,
} from "./assembly.ts";
import { checkBalances } from "./balances.ts";
import { canonicalMint, type Intent, resolveIntent } from "./intent.ts";
import { chooseRoute, type Route } from "./route.ts";
import type { TokenSealer } from "./submission-token.ts";
import type { BuiltTrade, Costs, TradeRequest } from "./trade.ts";

/** What the build story reads; everything answers from memory once warm. */
export interface BuildPorts {
  readonly markets: Markets;
  readonly head: ChainHead;
  readonly fees: PriorityFees;
  readonly sealer: TokenSealer;
  readonly now: Now;
  /**
   * A number below 2^14 that differs from build to build. It goes into the low bits of the loaded-bytes limit, so that the
   * same trade asked for twice is two messages, and lands twice.
   */
  readonly nextNonce: () => number;
  readonly settings: BuildSettings;
}

export interface BuildSettings {
  /** Added to the measured bound of compute units. Percent. */
  readonly computeUnitMarginPercent: number;
  /** Bytes of accounts and programs a trade may load. */
  readonly loadedAccountsBytes: number;
  /** Kept between `expiresAt` and the end of the blockhash, for the way to the leader. Milliseconds. */
  readonly expiryMarginMs: number;
}

/** Longest validity told to a caller. Milliseconds. */
const MAX_VALIDITY_MS = 30_000;
const LAMPORTS_PER_SIGNATURE = 5_000n;

/**
 * Builds an unsigned transaction: resolve, snapshot, quote, route, assemble, budget, compile, seal.
 * Warm builds run to the end without waiting; only what is not in memory yet makes it a promise.
 *
 * @throws TradewireError as CONTRACT of the build endpoints: VALIDATION_ERROR, TOKEN_NOT_FOUND, NO_ROUTE and the rest
 */
export function buildTrade(ports: BuildPorts, request: TradeRequest): BuiltTrade | Promise<BuiltTrade> {
  const { markets } = ports;
  const inMint = markets.mint(canonicalMint(request.inMint));
  const outMint = markets.mint(canonicalMint(request.outMint));
  if (inMint instanceof Promise || outMint instanceof Promise) return buildCold(ports, request);
  const intent = resolveIntent(request, inMint, outMint);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  if (!knowsWallet(markets, accounts)) return buildCold(ports, request);
  const pair = markets.marketsOf({ a: intent.inMint.address, b: intent.outMint.address });
  if (pair instanceof Promise) return buildCold(ports, request);
  const built = tryBuild(ports, request, intent, accounts, pair);
  return built instanceof TradewireError ? buildRefreshed(ports, request, intent, accounts, pair) : built;
}

/** The same story where something has to be read first. */
async function buildCold(ports: BuildPorts, request: TradeRequest): Promise<BuiltTrade> {
  const { markets } = ports;
  const [inMint, outMint]: (Mint | null)[] = await Promise.all([
    markets.mint(canonicalMint(request.inMint)),
    markets.mint(canonicalMint(request.outMint)),
  ]);
  const intent = resolveIntent(request, inMint!, outMint!);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  const [pair] = await Promise.all([
    markets.marketsOf({ a: intent.inMint.address, b: intent.outMint.address }),
    warmWallet(markets, accounts),
  ]);
  const built = tryBuild(ports, request, intent, accounts, pair);
  return built instanceof TradewireError ? buildRefreshed(ports, request, intent, accounts, pair) : built;
}

/** The wallet's balance as remembered does not suffice: it is read again before the caller is refused. */
async function buildRefreshed(
  ports: BuildPorts,
  request: TradeRequest,
  intent: Intent,
  accounts: WalletAccounts,
  pair: PairMarkets,
): Promise<BuiltTrade> {
  await ports.markets.refresh(walletAddresses(accounts));
  const built = tryBuild(ports, request, intent, accounts, pair);
  if (built instanceof TradewireError) throw built;
  return built;
}

/** The warm path, or the balance error it ended in. */
function tryBuild(
  ports: BuildPorts,
  request: TradeRequest,
  intent: Intent,
  accounts: WalletAccounts,
  pair: PairMarkets,
): BuiltTrade | TradewireError {
  const { head, markets } = ports;
  const route = chooseRoute(intent, pair, head.clock());
  if (request.maxPriceImpact !== undefined && route.priceImpact > request.maxPriceImpact) {
    throw new TradewireError(
      "PRICE_IMPACT_TOO_HIGH",
      `The trade moves the price by ${route.priceImpact}, more than maxPriceImpact ${request.maxPriceImpact}. Trade less, or allow more.`,
      { details: { priceImpact: route.priceImpact } },
    );
  }
  const nonce = ports.nextNonce();
  const assembly = assemble(intent, route, accounts, {
    markets,
    rentExemption: (space) => head.rentExemption(space),
    nonce,
  });
  const budget = budgetFor(ports, request, route, assembly, nonce);
  const costs = costsOf(budget, assembly);
  checkPriorityCost(request, costs);
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

  const lifetime = head.lifetime();
  const message = compileMessage({
    payer: accounts.wallet,
    instructions: [...budgetInstructions(budget), ...assembly.instructions],
    blockhash: lifetime.blockhash,
    lookupTables: [],
  });
  const transaction = unsignedTransaction(message);
  if (transaction.length > MAX_TRANSACTION_SIZE) {
    throw new TradewireError(
      "NO_ROUTE",
      `The best route needs a transaction of ${transaction.length} bytes; ${MAX_TRANSACTION_SIZE} is the network's limit.`,
    );
  }
  const expiresAtMs = expiryOf(ports, lifetime.lastValidBlockHeight);
  const sides = {
    inMint: intent.inMint.address,
    outMint: intent.outMint.address,
    inDecimals: intent.inMint.decimals,
    outDecimals: intent.outMint.decimals,
  };
  const submissionToken = ports.sealer.seal({
    ...sides,
    accountId: request.principal.accountId,
    wallet: accounts.wallet,
    messageHash: hash("sha256", message, "buffer"),
    messageLength: message.length,
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
    buildSlot: lifetime.slot,
    stateSlot: route.stateSlot,
    expiresAtMs,
    costs,
    route: route.legs,
    creates: assembly.creates,
  });
  return {
    ...sides,
    submissionToken,
    unsignedTransaction: transaction,
    expiresAtMs,
    platform: route.platform,
    estimates: estimatesOf(route),
    costs,
    route: route.legs,
    lastValidBlockHeight: lifetime.lastValidBlockHeight,
  };
}

/** What a route is expected to move. */
export function estimatesOf(route: Route): BuiltTrade["estimates"] {
  const { inAmount, outAmount, priceImpact, threshold } = route;
  return { inAmount, outAmount, priceImpact, threshold };
}

function budgetFor(ports: BuildPorts, request: TradeRequest, route: Route, assembly: Assembly, nonce: number): Budget {
  const { settings, fees } = ports;
  const units = assembly.computeUnits + 3 * UNITS.computeBudget;
  return {
    computeUnitLimit: Math.min(Math.ceil((units * (100 + settings.computeUnitMarginPercent)) / 100), MAX_COMPUTE_UNITS),
    priceMicroLamports: fees.priceMicroLamportsPerCu(request.priority, [route.best.hot.market.address]),
    loadedBytesLimit: settings.loadedAccountsBytes - nonce,
  };
}

function costsOf(budget: Budget, assembly: Assembly): Costs {
  return {
    baseFee: LAMPORTS_PER_SIGNATURE,
    priorityFee: priorityFeeLamports(budget.computeUnitLimit, budget.priceMicroLamports),
    tip: 0n,
    rentPaid: assembly.creates.reduce((sum, { rent }) => sum + rent, 0n),
    rentReturned: 0n,
  };
}

function checkPriorityCost(request: TradeRequest, costs: Costs): void {
  const paid = costs.priorityFee + costs.tip;
  if (request.maxPriorityCost === undefined || Number(paid) <= request.maxPriorityCost * Number(LAMPORTS_PER_SOL))
    return;
  throw new TradewireError(
    "PRIORITY_COST_TOO_HIGH",
    `Priority ${request.priority} costs ${formatAmount(paid, SOL_DECIMALS)} SOL now, more than maxPriorityCost ${request.maxPriorityCost}. Ask for a lower priority, or allow more.`,
    { details: { priorityCostLamports: paid.toString() } },
  );
}

function expiryOf({ head, now, settings }: BuildPorts, lastValidBlockHeight: bigint): number {
  const blocksLeft = Number(lastValidBlockHeight - head.blockHeight());
  const landable = blocksLeft * head.slotMs() - settings.expiryMarginMs;
  return Math.floor(now() + Math.max(0, Math.min(landable, MAX_VALIDITY_MS)));
}

function walletAddresses({ wallet, source, destination }: WalletAccounts) {
  return [wallet, ...(source ? [source.address] : []), ...(destination ? [destination.address] : [])];
}

function knowsWallet(markets: Markets, { wallet, source, destination }: WalletAccounts): boolean {
  return (
    markets.account(wallet) !== undefined &&
    (source === undefined || markets.account(source.address) !== undefined) &&
    (destination === undefined || markets.account(destination.address) !== undefined)
  );
}

/** Reads the wallet's own accounts; a node that does not answer only costs the balance check. */
async function warmWallet(markets: Markets, accounts: WalletAccounts): Promise<void> {
  try {
    await markets.warm(walletAddresses(accounts));
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
  }
}
