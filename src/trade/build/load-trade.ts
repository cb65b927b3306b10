import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets, SearchCaller } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { background } from "../../primitives/turns/background.ts";
import type { Mint } from "../../solana/token/mint.ts";
import { type BalanceShare, canonicalMint, type Intent, resolveIntent } from "../intent.ts";
import { awaitSnapshot, type Snapshot, takeSnapshot } from "../quote/snapshot.ts";
import type { TradeRequest } from "../trade.ts";
import type { UnclosableAccounts } from "../unclosable-accounts.ts";
import { balanceShareOf, readBalanceShare } from "./balance-share.ts";
import { balanceAddresses, knowsBalances, type WalletAccounts, walletAccounts } from "./wallet-accounts.ts";

/** What loading a trade reads. */
export interface LoadPorts {
  readonly markets: Markets;
  /** Accounts that sales leave open; absent: none is known. */
  readonly unclosable?: Pick<UnclosableAccounts, "has"> | undefined;
}

/** A request with everything its build reads: all of it is in memory now. */
export interface LoadedTrade {
  readonly request: TradeRequest;
  readonly intent: Intent;
  readonly accounts: WalletAccounts;
  readonly snapshot: Snapshot;
}

/**
 * Loads a trade from memory, without waiting. Undefined if something must be read first: `loadTrade` does that. A share of a balance must be
 * read once for each trade.
 *
 * @param isRead true if `loadTrade` has loaded the trade
 * @throws TradewireError as `resolveIntent` and `takeSnapshot`; also INSUFFICIENT_TOKEN_BALANCE for a share of nothing
 */
export function recallTrade(ports: LoadPorts, request: TradeRequest, isRead = false): LoadedTrade | undefined {
  const { markets } = ports;
  if (request.sellPercent !== undefined && !isRead) return undefined;
  const a = canonicalMint(request.inMint);
  const b = canonicalMint(request.outMint);
  markets.readAhead?.({ a, b }, request.principal.wallet);
  const inMint = markets.mint(a, request.caller);
  const outMint = markets.mint(b, request.caller);
  if (inMint instanceof Promise || outMint instanceof Promise) return undefined;
  const share = shareOf(ports, request, inMint);
  if (share === "unknown") return undefined;
  const intent = resolveIntent(request, inMint, outMint, share);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  if (!knowsBalances(markets, accounts)) return undefined;
  const snapshot = takeSnapshot(markets, intent.inMint.address, intent.outMint.address, request.caller);
  return snapshot === undefined ? undefined : { request, intent, accounts, snapshot };
}

/**
 * Loads a trade, reading what is not in memory: the mints first, because nothing else is worth a call unless both exist.
 *
 * @throws TradewireError as `recallTrade`; also INSUFFICIENT_TOKEN_BALANCE for a share of nothing, UPSTREAM_ERROR,
 * RATE_LIMIT_EXCEEDED and OVERLOADED if a cold search would have to wait too long
 */
export async function loadTrade(ports: LoadPorts, request: TradeRequest): Promise<LoadedTrade> {
  const { markets, unclosable } = ports;
  const { sellPercent, caller } = request;
  const [inAddress, outAddress] = [canonicalMint(request.inMint), canonicalMint(request.outMint)];
  const mints = [markets.mint(inAddress, caller), markets.mint(outAddress, caller)] as const;
  const isCold = mints.some((mint) => mint instanceof Promise);
  const [inMint, outMint] = await Promise.all(mints);
  // The read of the mints has used up this turn.
  await background.next();
  const isShare = sellPercent !== undefined && inMint !== null && outMint !== null;
  const early = isShare && inMint !== outMint ? fetchSnapshot(markets, inAddress, outAddress, caller) : undefined;
  early?.catch(() => {});
  const { wallet } = request.principal;
  const share = isShare ? await readBalanceShare(markets, wallet, inMint, sellPercent, unclosable) : undefined;
  const intent = resolveIntent(request, inMint, outMint, share);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  // Deriving the wallet's addresses takes a turn's time too.
  await background.next();
  // The markets of a mint that was not in memory take longer than these accounts, and the calls that read markets can bring the accounts
  // along.
  const warming = warmIfPossible(markets, balanceAddresses(accounts), isCold);
  const fetching = background
    .next()
    .then(() => early ?? fetchSnapshot(markets, intent.inMint.address, intent.outMint.address, caller));
  const [snapshot] = await Promise.all([fetching, warming]);
  return { request, intent, accounts, snapshot };
}

/** The trade on the current state of its markets, which may have moved while other accounts were read. */
export async function renewTrade(markets: Markets, loaded: LoadedTrade): Promise<LoadedTrade> {
  const { request, intent } = loaded;
  const { inMint, outMint } = intent;
  return { ...loaded, snapshot: await fetchSnapshot(markets, inMint.address, outMint.address, request.caller) };
}

/**
 * The trade with its share of the balance that is in memory now, which may have changed while other accounts were read.
 *
 * @throws TradewireError INSUFFICIENT_TOKEN_BALANCE
 */
export function withNewestShare(ports: LoadPorts, loaded: LoadedTrade): LoadedTrade {
  const { request, intent } = loaded;
  const share = shareOf(ports, request, intent.inMint);
  return share === undefined || share === "unknown" ? loaded : { ...loaded, intent: { ...intent, ...share } };
}

/** The share that a request asks for, from memory; undefined if it asks for an amount. */
function shareOf(
  { markets, unclosable }: LoadPorts,
  { sellPercent, principal }: TradeRequest,
  mint: Mint | null,
): BalanceShare | "unknown" | undefined {
  if (sellPercent === undefined || mint === null) return undefined;
  return balanceShareOf(markets, principal.wallet, mint, sellPercent, unclosable) ?? "unknown";
}

/** Reads accounts into memory. Without an answer from a node they stay unknown, and a build goes on without them. */
export async function warmIfPossible(
  markets: Pick<Markets, "warm">,
  addresses: readonly Address[],
  mayWait = false,
): Promise<void> {
  try {
    await markets.warm(addresses, mayWait);
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
  }
}

/** From memory if the pair is there, without waiting for hubs again. */
async function fetchSnapshot(
  markets: Markets,
  inMint: Address,
  outMint: Address,
  caller: SearchCaller | undefined,
): Promise<Snapshot> {
  return takeSnapshot(markets, inMint, outMint, caller) ?? awaitSnapshot(markets, inMint, outMint, caller);
}
