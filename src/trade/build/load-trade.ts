import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Markets } from "../../market/port.ts";
import type { Address } from "../../primitives/address.ts";
import { canonicalMint, type Intent, resolveIntent } from "../intent.ts";
import { awaitSnapshot, type Snapshot, takeSnapshot } from "../quote/snapshot.ts";
import type { TradeRequest } from "../trade.ts";
import { readBalanceShare } from "./balance-share.ts";
import { balanceAddresses, knowsBalances, type WalletAccounts, walletAccounts } from "./wallet-accounts.ts";

/** A request with everything its build reads: all of it is in memory now. */
export interface LoadedTrade {
  readonly request: TradeRequest;
  readonly intent: Intent;
  readonly accounts: WalletAccounts;
  readonly snapshot: Snapshot;
}

/**
 * Loads a trade from memory, without waiting. Undefined if something must be read first: `loadTrade` does that.
 *
 * @throws TradewireError as `resolveIntent` and `takeSnapshot`
 */
export function recallTrade(markets: Markets, request: TradeRequest): LoadedTrade | undefined {
  if (request.sellPercent !== undefined) return undefined;
  const inMint = markets.mint(canonicalMint(request.inMint));
  const outMint = markets.mint(canonicalMint(request.outMint));
  if (inMint instanceof Promise || outMint instanceof Promise) return undefined;
  const intent = resolveIntent(request, inMint, outMint);
  const accounts = walletAccounts(request.principal, intent.inMint, intent.outMint);
  if (!knowsBalances(markets, accounts)) return undefined;
  const snapshot = takeSnapshot(markets, intent.inMint.address, intent.outMint.address);
  return snapshot === undefined ? undefined : { request, intent, accounts, snapshot };
}

/**
 * Loads a trade, reading what is not in memory.
 *
 * @throws TradewireError as `recallTrade`; also INSUFFICIENT_TOKEN_BALANCE for a share of nothing, UPSTREAM_ERROR
 */
export async function loadTrade(markets: Markets, request: TradeRequest): Promise<LoadedTrade> {
  const [inAddress, outAddress] = [canonicalMint(request.inMint), canonicalMint(request.outMint)];
  // Started before the mints are known, so that everything is read in the same rounds.
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
    warmIfPossible(markets, balanceAddresses(accounts)),
  ]);
  return { request, intent, accounts, snapshot };
}

/** Reads accounts into memory. Without an answer from a node they stay unknown, and a build goes on without them. */
export async function warmIfPossible(markets: Pick<Markets, "warm">, addresses: readonly Address[]): Promise<void> {
  try {
    await markets.warm(addresses);
  } catch (error) {
    if (!(error instanceof TradewireError)) throw error;
  }
}

/** From memory if the pair is there, without waiting for hubs again. */
async function fetchSnapshot(markets: Markets, inMint: Address, outMint: Address): Promise<Snapshot> {
  return takeSnapshot(markets, inMint, outMint) ?? awaitSnapshot(markets, inMint, outMint);
}
