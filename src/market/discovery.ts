import { setImmediate as nextTurn } from "node:timers/promises";
import type { AccountReader } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import type { Now } from "../primitives/clock.ts";
import type { Account } from "../solana/account.ts";
import type { Market, MarketSearch, MintPair, Venue } from "../venues/venue.ts";
import type { MarketFault } from "./port.ts";

/** A discovered market, and the account it was decoded from. */
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
  /** False if a search failed that may succeed soon. */
  readonly isComplete: boolean;
}

interface DiscoveryOptions {
  readonly reader: AccountReader;
  readonly venues: readonly Venue[];
  readonly now: Now;
  /** Receives the details of failures, which callers of the API do not get. */
  readonly warn: (message: string) => void;
  /** More markets of one pair than this are not examined. */
  readonly maxFound: number;
}

/** Rounds of reads after the search: what a market needs, and what those accounts show to be needed. */
export const ROUNDS_AFTER_SEARCH = 2;

type Probe = Extract<MarketSearch, { kind: "probe" }>;
type Filter = Extract<MarketSearch, { kind: "filter" }>;

/** A venue, and accounts that may be markets of it. */
interface Candidates {
  readonly venue: Venue;
  readonly accounts: readonly Account[];
}

/**
 * Searches every venue for markets of the pair: one read of all probed addresses, and the filtered searches beside it. If a
 * venue or a search fails, the others go on and the failure is a fault. Deriving addresses takes time, so other work gets a
 * turn before each venue.
 *
 * @throws TradewireError UPSTREAM_ERROR if the probed addresses cannot be read
 */
export function discoverMarkets(pair: MintPair, options: DiscoveryOptions): Promise<Discovery> {
  return new MarketDiscovery(pair, options).run();
}

/** One search of every venue for one pair, with the faults it meets. */
class MarketDiscovery {
  readonly #pair: MintPair;
  readonly #options: DiscoveryOptions;
  readonly #faults: MarketFault[] = [];
  readonly #failed = new Set<string>();
  #isComplete = true;

  constructor(pair: MintPair, options: DiscoveryOptions) {
    this.#pair = pair;
    this.#options = options;
  }

  async run(): Promise<Discovery> {
    const { venues, reader, now } = this.#options;
    const { probes, filters } = await this.#plan();
    const readAtMs = now();
    const addresses = [...new Set(probes.flatMap(({ search }) => search.addresses))];
    const filtering = Promise.all(filters.map(({ venue, search }) => this.#filter(venue, search)));
    const [probed, filtered] = await Promise.all([readAll(reader, addresses), filtering]);
    const accountsAt = ({ addresses }: Probe) => addresses.flatMap((address) => probed.get(address) ?? []);
    const candidates = probes.map(({ venue, search }) => ({ venue, accounts: accountsAt(search) }));
    const found = this.#decode([...candidates, ...filtered], readAtMs);
    const searched = venues.map(({ id }) => id).filter((id) => !this.#failed.has(id));
    return { found, faults: this.#faults, searched, isComplete: this.#isComplete };
  }

  async #plan() {
    const probes: { readonly venue: Venue; readonly search: Probe }[] = [];
    const filters: { readonly venue: Venue; readonly search: Filter }[] = [];
    for (const venue of this.#options.venues) {
      await nextTurn();
      try {
        for (const search of venue.search(this.#pair)) {
          if (search.kind === "probe") probes.push({ venue, search });
          else filters.push({ venue, search });
        }
      } catch (error) {
        this.#failed.add(venue.id);
        this.#note(venue, undefined, error);
      }
    }
    return { probes, filters };
  }

  async #filter(venue: Venue, search: Filter): Promise<Candidates> {
    try {
      const accounts = await this.#options.reader.fetchProgramAccounts(search);
      if (accounts !== "refused") return { venue, accounts };
      this.#failed.add(venue.id);
      const reason = "refused: the Solana node does not serve searches of this program's accounts";
      this.#faults.push({ venue: venue.id, market: undefined, reason });
    } catch (error) {
      this.#isComplete = false;
      this.#failed.add(venue.id);
      this.#note(venue, undefined, error);
    }
    return { venue, accounts: [] };
  }

  #decode(candidates: readonly Candidates[], readAtMs: number): readonly FoundMarket[] {
    const { maxFound } = this.#options;
    const found = new Map<Address, FoundMarket>();
    let count = 0;
    for (const { venue, accounts } of candidates) {
      for (const account of accounts) {
        if (found.has(account.address)) continue;
        try {
          const market = venue.decode(account, this.#pair);
          if (market === undefined || !tradesPair(market, this.#pair)) continue;
          count += 1;
          if (count <= maxFound) found.set(account.address, { venue, market, account, readAtMs });
        } catch (error) {
          this.#note(venue, account.address.toString(), error);
        }
      }
    }
    if (count > maxFound) {
      const reason = `only ${maxFound} of ${count} markets for this pair are examined`;
      this.#faults.push({ venue: "all", market: undefined, reason });
    }
    return [...found.values()];
  }

  #note(venue: Venue, market: string | undefined, error: unknown): void {
    this.#faults.push({ venue: venue.id, market, reason: reasonOf(error) });
    // A market that names its own fault is no cause for a warning.
    if (market !== undefined && error instanceof TradewireError) return;
    const { a, b } = this.#pair;
    this.#options.warn(`Search of ${venue.id} for ${a} and ${b}, ${market ?? "no market"}: ${String(error)}`);
  }
}

/** A failure as callers of the API may read it: the message of a TradewireError, nothing of any other. */
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

/** A reader that notices outages, and warnings that come once in each. */
interface SearchOutage {
  readonly reader: AccountReader;
  readonly warn: (message: string) => void;
}

/**
 * An outage of the nodes fails every filter of every search: one line says so, and the next failure is logged only after a
 * search has succeeded.
 */
export function watchSearchOutages(reader: AccountReader, warn: (message: string) => void): SearchOutage {
  let isDown = false;
  let hasWarned = false;
  const noting = async <T>(reading: Promise<T>): Promise<T> => {
    try {
      const result = await reading;
      isDown = hasWarned = false;
      return result;
    } catch (error) {
      isDown = true;
      throw error;
    }
  };
  return {
    reader: {
      fetchAccounts: (...asked) => reader.fetchAccounts(...asked),
      fetchProgramAccounts: (filter) => noting(reader.fetchProgramAccounts(filter)),
    },
    warn(message) {
      if (isDown && hasWarned) return;
      hasWarned = isDown;
      warn(isDown ? `${message} Further failed searches are not logged until one succeeds.` : message);
    },
  };
}
