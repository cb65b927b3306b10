import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccountReader } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { Account } from "../solana/account.ts";
import type { Market, MarketSearch, MintPair, Venue } from "../venues/venue.ts";
import type { MarketFault } from "./port.ts";

/** A market that was found, and the account it was decoded from. */
export interface FoundMarket {
  readonly venue: Venue;
  readonly market: Market;
  readonly account: Account;
  /** When the read of the account was sent (epoch milliseconds). */
  readonly readAtMs: number;
}

interface Discovery {
  readonly found: readonly FoundMarket[];
  readonly faults: readonly MarketFault[];
  /** Venues that were searched without a failure. */
  readonly searched: readonly string[];
  /** False when a search failed that may succeed soon. */
  readonly isComplete: boolean;
}

interface DiscoveryOptions {
  readonly reader: AccountReader;
  readonly venues: readonly Venue[];
  readonly now: Now;
  /** Told what went wrong, in the words that callers do not get. */
  readonly warn: (message: string) => void;
  /** More markets of one pair than this are not looked at. */
  readonly maxFound: number;
}

/** Rounds of reads after the search: what a market needs, and what that shows to be needed. */
export const ROUNDS_AFTER_SEARCH = 2;

type Probe = Extract<MarketSearch, { kind: "probe" }>;
type Filter = Extract<MarketSearch, { kind: "filter" }>;

/**
 * Looks for markets of the pair on every venue: one read of all probed addresses, and beside it the filtered searches. A
 * venue or search that fails is a fault of its own and takes nothing else with it. Deriving the addresses takes its time:
 * other work gets a turn before each venue.
 *
 * @throws TradewireError UPSTREAM_ERROR when the probed addresses cannot be read
 */
export async function discoverMarkets(
  pair: MintPair,
  { reader, venues, now, warn, maxFound }: DiscoveryOptions,
): Promise<Discovery> {
  const faults: MarketFault[] = [];
  const note = (venue: Venue, market: string | undefined, error: unknown) => {
    faults.push({ venue: venue.id, market, reason: reasonOf(error) });
    // A market that says itself what is wrong with it is no news.
    if (market !== undefined && error instanceof TradewireError) return;
    warn(`Search of ${venue.id} for ${pair.a} and ${pair.b}, ${market ?? "no market"}: ${String(error)}`);
  };
  let isComplete = true;
  const probes: { readonly venue: Venue; readonly search: Probe }[] = [];
  const filters: { readonly venue: Venue; readonly search: Filter }[] = [];
  const failed = new Set<string>();
  for (const venue of venues) {
    await nextTurn();
    try {
      for (const search of venue.search(pair)) {
        if (search.kind === "probe") probes.push({ venue, search });
        else filters.push({ venue, search });
      }
    } catch (error) {
      failed.add(venue.id);
      note(venue, undefined, error);
    }
  }

  const readAtMs = now();
  const addresses = [...new Set(probes.flatMap(({ search }) => search.addresses))];
  const filtering = Promise.all(
    filters.map(async ({ venue, search }) => {
      try {
        const accounts = await reader.fetchProgramAccounts(search);
        if (accounts !== "refused") return { venue, accounts };
        failed.add(venue.id);
        faults.push({
          venue: venue.id,
          market: undefined,
          reason: "refused: the Solana node does not serve searches of this program's accounts",
        });
      } catch (error) {
        isComplete = false;
        failed.add(venue.id);
        note(venue, undefined, error);
      }
      return { venue, accounts: [] };
    }),
  );
  const [probed, filtered] = await Promise.all([readAll(reader, addresses), filtering]);

  const candidates = [
    ...probes.map(({ venue, search }) => ({
      venue,
      accounts: search.addresses.flatMap((address) => probed.get(address) ?? []),
    })),
    ...filtered,
  ];
  const found = new Map<Address, FoundMarket>();
  let count = 0;
  for (const { venue, accounts } of candidates) {
    for (const account of accounts) {
      if (found.has(account.address)) continue;
      try {
        const market = venue.decode(account, pair);
        if (market === undefined || !tradesPair(market, pair)) continue;
        count += 1;
        if (count <= maxFound) found.set(account.address, { venue, market, account, readAtMs });
      } catch (error) {
        note(venue, account.address.toString(), error);
      }
    }
  }
  if (count > maxFound) {
    const reason = `only ${maxFound} of ${count} markets for this pair are looked at`;
    faults.push({ venue: "all", market: undefined, reason });
  }
  const searched = venues.map(({ id }) => id).filter((id) => !failed.has(id));
  return { found: [...found.values()], faults, searched, isComplete };
}

/** A failure in words, for the caller's list of what was found wanting: only messages that are meant for callers. */
export function reasonOf(error: unknown): string {
  return error instanceof TradewireError ? error.message : "cannot be read";
}

async function readAll(reader: AccountReader, addresses: readonly Address[]): Promise<ReadonlyMap<Address, Account>> {
  const found = new Map<Address, Account>();
  if (addresses.length === 0) return found;
  for (const account of (await reader.fetchAccounts(addresses)).accounts)
    if (account !== null) found.set(account.address, account);
  return found;
}

function tradesPair({ mints: [x, y] }: Market, { a, b }: MintPair): boolean {
  return (x === a && y === b) || (x === b && y === a);
}
