import type { AccountReader } from "../../chain/port.ts";
import { TradewireError } from "../../errors/tradewire-error.ts";
import type { Address } from "../../primitives/address.ts";
import type { Now } from "../../primitives/clock.ts";
import type { OneATurn } from "../../primitives/turns/one-a-turn.ts";
import type { Account } from "../../solana/account.ts";
import type { AccountFilter, Market, MarketSearch, MintPair, Venue } from "../../venues/venue.ts";
import type { MarketFault } from "../port.ts";
import type { IndexedMarket } from "./market-index.ts";
import type { BegunSearch, SubjectFindings, SubjectSearches, VenueFinding } from "./subject-search.ts";

/** A discovered market, and the account it was decoded from. */
export interface FoundMarket {
  readonly venue: Venue;
  readonly market: Market;
  readonly account: Account;
  /** When the read of the account was sent (epoch milliseconds). */
  readonly readAtMs: number;
}

/** The markets of a pair that are known before any account is read. */
export interface KnownMarkets {
  /** Markets of the pair that were found before. */
  readonly indexed: readonly IndexedMarket[];
  /** Searches of the chain for the pair's mints; none if the index is enough. */
  readonly searches: readonly BegunSearch[];
}

/** What one search of a pair found, and what it could not look at. */
export interface Discovery {
  readonly found: readonly FoundMarket[];
  /** Entries of the index that no longer exist, or are not markets. */
  readonly gone: readonly Address[];
  readonly faults: readonly MarketFault[];
  /** Venues that were searched without a failure. */
  readonly searched: readonly string[];
  /** False if a search failed that may succeed soon. */
  readonly isComplete: boolean;
  /** True if the searches of its mints were complete for these mints, not only for this pair. */
  readonly isWhole: boolean;
}

interface DiscoveryOptions {
  readonly reader: AccountReader;
  readonly searches: SubjectSearches;
  readonly venues: readonly Venue[];
  /** Gives the derivation for each venue a turn of the loop. */
  readonly pace: OneATurn;
  readonly now: Now;
  /** Receives the details of failures, which callers of the API do not get. */
  readonly warn: (message: string) => void;
  /** More markets of one pair than this are not examined. */
  readonly maxFound: number;
}

/** Rounds of reads after the search: a market's needs, and those that these accounts reveal. */
export const ROUNDS_AFTER_SEARCH = 2;

/** Accounts decoded before others get a turn: a fraction of a millisecond of work. */
export const DECODED_AT_ONCE = 32;

/** Where a venue's markets of the pair may be. */
interface Plan {
  readonly venue: Venue;
  readonly probes: readonly Address[];
  readonly filters: readonly AccountFilter[];
  readonly guess: (() => readonly Address[]) | undefined;
}

/** A venue, and accounts that may be markets of it. */
interface Candidates {
  readonly venue: Venue;
  readonly accounts: readonly Account[];
  readonly readAtMs: number;
}

const REFUSED = "refused: the Solana node does not serve searches of this program's accounts";

/**
 * Finds the markets of the pair: those of the index, those of the filters, and those at addresses that can be derived, which
 * are read in one call. If a venue or a search fails, the others go on and the failure is a fault.
 *
 * @throws TradewireError UPSTREAM_ERROR if the derived addresses cannot be read
 */
export function discoverMarkets(pair: MintPair, coverage: KnownMarkets, options: DiscoveryOptions): Promise<Discovery> {
  return new MarketDiscovery(pair, coverage, options).run();
}

/** One search of every venue for one pair, with the faults it meets. */
class MarketDiscovery {
  readonly #pair: MintPair;
  readonly #coverage: KnownMarkets;
  readonly #options: DiscoveryOptions;
  readonly #faults: MarketFault[] = [];
  readonly #failed = new Set<string>();
  readonly #gone: Address[] = [];
  #isComplete = true;

  constructor(pair: MintPair, coverage: KnownMarkets, options: DiscoveryOptions) {
    this.#pair = pair;
    this.#coverage = coverage;
    this.#options = options;
  }

  async run(): Promise<Discovery> {
    const { venues } = this.#options;
    const { searches } = this.#coverage;
    const plans = await this.#plan();
    // If the venue has no filters for a mint, the chain is searched for the pair.
    const byPair = searches.length === 0 ? [] : plans.filter(({ venue }) => venue.searchMint === undefined);
    const [read, findings, filtered] = await Promise.all([
      this.#readDerived(plans),
      Promise.all(searches.map(({ findings }) => findings)),
      this.#filterAll(byPair),
    ]);
    const byMint = searches.length === 0 ? [] : plans.filter(({ venue }) => venue.searchMint !== undefined);
    const unsure = byMint.filter((plan) => !this.#takeFindings(plan, findings, filtered));
    if (unsure.length > 0) filtered.push(...(await this.#filterAll(unsure)));
    const guessed = await this.#guess(
      plans.filter(({ venue, guess }) => guess !== undefined && this.#failed.has(venue.id)),
    );
    const found = await this.#decode([...read, ...filtered, ...guessed]);
    const searched = venues.map(({ id }) => id).filter((id) => !this.#failed.has(id));
    const isWhole = findings.every((one) => one.isWhole);
    return { found, gone: this.#gone, faults: this.#faults, searched, isComplete: this.#isComplete, isWhole };
  }

  /** Deriving addresses takes time, so others get a turn after each venue that does. */
  async #plan(): Promise<readonly Plan[]> {
    const plans: Plan[] = [];
    for (const venue of this.#options.venues) {
      if ((plans.at(-1)?.probes.length ?? 0) > 0) await this.#options.pace.next();
      try {
        plans.push(planOf(venue, venue.search(this.#pair)));
      } catch (error) {
        this.#failed.add(venue.id);
        this.#note(venue, undefined, error);
      }
    }
    return plans;
  }

  /** Reads the probed and the indexed addresses. */
  async #readDerived(plans: readonly Plan[]): Promise<readonly Candidates[]> {
    const { indexed } = this.#coverage;
    const asked = plans.map(({ venue, probes }) => {
      const known = indexed.filter((one) => one.venue === venue.id).map(({ address }) => address);
      return { venue, probes, known };
    });
    const readAtMs = this.#options.now();
    const at = await this.#read(asked.flatMap(({ probes, known }) => [...probes, ...known]));
    return asked.map(({ venue, probes, known }) => {
      const accounts = probes.flatMap((address) => at.get(address) ?? []);
      for (const address of known) {
        const account = at.get(address);
        // The index proves nothing: an account of another program is no market of this venue.
        if (account !== undefined && venue.programs.includes(account.owner)) accounts.push(account);
        else this.#gone.push(address);
      }
      return { venue, accounts, readAtMs };
    });
  }

  /** Adds what the filters of its mints found for a venue. @returns false, with nothing added, if their answers are not whole */
  #takeFindings({ venue }: Plan, findings: readonly SubjectFindings[], into: Candidates[]): boolean {
    const ofVenue = findings.filter(({ byVenue }) => byVenue.has(venue.id));
    const isWhole = ofVenue.every(({ byVenue }) => byVenue.get(venue.id)!.trouble !== "oversized");
    if (ofVenue.length === 0 || !isWhole) return false;
    for (const { byVenue, readAtMs } of ofVenue) {
      const { accounts, trouble } = byVenue.get(venue.id)!;
      this.#noteTrouble(venue, trouble);
      if (accounts.length > 0) into.push({ venue, accounts, readAtMs });
    }
    return true;
  }

  /** What the venues' filters of the pair find. */
  async #filterAll(plans: readonly Plan[]): Promise<Candidates[]> {
    const searching = plans
      .filter(({ filters }) => filters.length > 0)
      .map(async ({ venue, filters }) => {
        const readAtMs = this.#options.now();
        const { accounts, trouble } = await this.#options.searches.filter(filters);
        this.#noteTrouble(venue, trouble);
        return { venue, accounts, readAtMs };
      });
    return searching.length === 0 ? [] : await Promise.all(searching);
  }

  #noteTrouble(venue: Venue, trouble: VenueFinding["trouble"]): void {
    if (trouble === undefined || this.#failed.has(venue.id)) return;
    this.#failed.add(venue.id);
    if (typeof trouble === "string") {
      this.#faults.push({ venue: venue.id, market: undefined, reason: REFUSED });
      return;
    }
    this.#isComplete = false;
    this.#note(venue, undefined, trouble.error);
  }

  /** Reads the likely addresses of venues whose filters did not answer. Deriving them takes time, so others get turns in between. */
  async #guess(plans: readonly Plan[]): Promise<readonly Candidates[]> {
    const asked: { readonly venue: Venue; readonly addresses: readonly Address[] }[] = [];
    for (const { venue, guess } of plans) {
      await this.#options.pace.next();
      asked.push({ venue, addresses: guess!() });
    }
    const readAtMs = this.#options.now();
    const addresses = asked.flatMap((one) => one.addresses);
    const at = await this.#read(addresses).catch((error: unknown) => {
      this.#isComplete = false;
      this.#options.warn(`Reading where markets of ${this.#pair.a} and ${this.#pair.b} may be: ${String(error)}`);
      return new Map<Address, Account>();
    });
    return asked.map(({ venue, addresses }) => ({
      venue,
      accounts: addresses.flatMap((address) => at.get(address) ?? []),
      readAtMs,
    }));
  }

  async #read(addresses: readonly Address[]): Promise<ReadonlyMap<Address, Account>> {
    const found = new Map<Address, Account>();
    if (addresses.length === 0) return found;
    const { accounts } = await this.#options.reader.fetchAccounts([...new Set(addresses)]);
    for (const account of accounts) if (account !== null) found.set(account.address, account);
    return found;
  }

  /** Some mints have thousands of markets, so others get turns in between. */
  async #decode(candidates: readonly Candidates[]): Promise<readonly FoundMarket[]> {
    const { maxFound, pace } = this.#options;
    const found = new Map<Address, FoundMarket>();
    let count = 0;
    let looked = 0;
    for (const { venue, accounts, readAtMs } of candidates) {
      for (const account of accounts) {
        if (++looked % DECODED_AT_ONCE === 0) await pace.next();
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
      const reason = `only ${maxFound} of ${count} markets for this pair are looked at`;
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

/** A failure as callers of the API may see it: the message of a TradewireError, and no details of any other error. */
export function reasonOf(error: unknown): string {
  return error instanceof TradewireError ? error.message : "cannot be read";
}

function planOf(venue: Venue, searches: readonly MarketSearch[]): Plan {
  const probes: Address[] = [];
  const filters: AccountFilter[] = [];
  let guess: Plan["guess"];
  for (const search of searches) {
    if (search.kind === "probe") probes.push(...search.addresses);
    else if (search.kind === "filter") filters.push(search);
    else guess ??= search.addresses;
  }
  return { venue, probes, filters, guess };
}

function tradesPair({ mints: [x, y] }: Market, { a, b }: MintPair): boolean {
  return (x === a && y === b) || (x === b && y === a);
}
