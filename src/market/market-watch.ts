import type { KnownAccount } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";
import { hasSameParts } from "../solana/account-content.ts";
import type { Market, MintPair, Venue } from "../venues/venue.ts";
import type { AccountHolder, HeldAccount, LiveAccounts } from "./live-accounts.ts";
import type { HotMarket, MarketBacking, MarketFault } from "./port.ts";
import { type FoundMarket, ROUNDS_AFTER_SEARCH, reasonOf } from "./search/discovery.ts";

/** A live market, as its judge sees it. */
export interface JudgedMarket {
  readonly venue: Venue;
  readonly address: Address;
  /** The mints it was found for. */
  readonly pair: MintPair;
  /** The accounts behind its state. */
  readonly held: Iterable<Address>;
  readonly view: AccountView;
  /** What the judge says of it has changed. */
  judged(): void;
}

/** What trades make of a market's judgement. */
interface MarketStanding {
  /** Undefined: nothing is checked. */
  readonly backing: MarketBacking | undefined;
  /** Why no trade is offered on it; undefined if trades are. */
  readonly withheld: string | undefined;
  /** Factor on the table's compute bound. */
  readonly unitsScale: number;
  /** True if its program does not make trades in their lean form. */
  readonly refusesLean: boolean;
}

/** Judges live markets by running the deployed programs. Everything but `settled` answers from memory. */
export interface MarketJudge {
  /** The market has become live. A second call does nothing. */
  begin(market: JudgedMarket): void;
  /** It no longer is. */
  end(market: JudgedMarket): void;
  standingOf(market: JudgedMarket): MarketStanding;
  /** Resolves when each was judged once, or after `waitMs`. */
  settled(markets: readonly JudgedMarket[], waitMs: number): Promise<void>;
}

const UNJUDGED: MarketStanding = {
  backing: undefined,
  withheld: undefined,
  unitsScale: 1,
  refusesLean: false,
};

/** Judges nothing: every market is offered, none is checked. */
export const NO_JUDGE: MarketJudge = {
  begin: () => {},
  end: () => {},
  standingOf: () => UNJUDGED,
  settled: async () => {},
};

/** A watched market: ready to trade on, at fault, or short of accounts that are still to be read. */
type MarketReading =
  | { readonly kind: "hot"; readonly hot: HotMarket }
  | { readonly kind: "fault"; readonly fault: MarketFault; readonly closed: boolean }
  | { readonly kind: "lacking"; readonly addresses: readonly Address[] };

interface MarketWatchOptions {
  readonly judge: MarketJudge;
  readonly found: FoundMarket;
  readonly live: LiveAccounts;
  readonly onChange: (watch: MarketWatch) => void;
  readonly warn: (message: string) => void;
}

/**
 * One market kept live: its accounts held, its state decoded once per change. The account it was found by serves until it is
 * live itself, so that the accounts the market needs can be read together with it.
 */
export class MarketWatch implements JudgedMarket, AccountHolder {
  readonly venue: Venue;
  readonly address: Address;
  /** Only what this market holds: an account held for another alone could change, or go, without notice. */
  readonly view: AccountView = { get: (address) => this.#accountAt(address) };
  /** The accounts behind the state. */
  readonly held: Iterable<Address> = { [Symbol.iterator]: () => this.#held.keys() };
  readonly #judge: MarketJudge;
  readonly #onChange: (watch: MarketWatch) => void;
  readonly #warn: (message: string) => void;
  readonly #live: LiveAccounts;
  readonly #held = new Map<Address, HeldAccount | undefined>();
  readonly #found: FoundMarket;
  #market: Market | undefined;
  #decodedFrom: Account;
  #wasLive = false;
  /** The market whose state was last read; undefined after a fault, and while accounts are lacking. */
  #readFor: Market | undefined;
  /** True once the view had to answer that an account is not known. */
  #missesAny = false;
  #hasFailed = false;
  #reading: MarketReading | undefined;

  constructor({ found, live, judge, onChange, warn }: MarketWatchOptions) {
    this.venue = found.venue;
    this.address = found.account.address;
    this.#live = live;
    this.#found = found;
    this.#market = found.market;
    this.#decodedFrom = found.account;
    this.#judge = judge;
    this.#onChange = onChange;
    this.#warn = warn;
  }

  get pair(): MintPair {
    const [a, b] = this.#found.market.mints;
    return { a, b };
  }

  /** An account behind it has changed. */
  onChange(): void {
    this.judged();
  }

  /** What the next `read` says is no longer what the last one said. */
  judged(): void {
    this.#reading = undefined;
    this.#onChange(this);
  }

  /** From memory; decodes only what has changed since the last call. */
  read(): MarketReading {
    this.#reading ??= this.#derive();
    return this.#reading;
  }

  /** Holds further accounts, and resolves when they are read, or are `known`. @throws TradewireError UPSTREAM_ERROR */
  async hold(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void> {
    this.#reading = undefined;
    const holding = this.#live.hold(this, addresses, known);
    for (const one of addresses) this.#held.set(one, this.#live.entryOf(one));
    await holding;
  }

  release(): void {
    this.#judge.end(this);
    this.#live.release(this, this.#held.keys());
    this.#held.clear();
  }

  /** Our code failed on this market. Logged once. */
  readonly failed = (error: unknown): void => {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#warn(`Our code of ${this.venue.id} fails on ${this.address}; trades go elsewhere: ${String(error)}`);
  };

  #accountAt(wanted: Address): Account | null | undefined {
    const account = this.#held.get(wanted)?.account;
    if (account === undefined) this.#missesAny = true;
    if (wanted !== this.address) return account;
    if (account !== undefined) this.#wasLive = true;
    return account === undefined && !this.#wasLive ? this.#found.account : account;
  }

  #derive(): MarketReading {
    const readFor = this.#readFor;
    this.#readFor = undefined;
    const { venue, address } = this;
    const { view } = this;
    const own = view.get(address);
    if (own === undefined) return { kind: "lacking", addresses: [address] };
    if (own === null) return this.#fault("the market was closed", { closed: true });
    try {
      const market = this.#decode(own);
      if (market === undefined) return this.#fault("the account is no longer a market", { closed: true });
      const again = market === readFor ? this.#readAgain(market) : undefined;
      if (again === undefined) {
        const lacking = venue.needs(market, view);
        if (!this.#held.has(address)) return { kind: "lacking", addresses: [address, ...lacking] };
        if (lacking.length > 0) return { kind: "lacking", addresses: lacking };
      }
      this.#judge.begin(this);
      const { withheld, backing, unitsScale, refusesLean } = this.#judge.standingOf(this);
      if (withheld !== undefined) return this.#fault(withheld, { isWithheld: true });
      const state = again === undefined ? venue.read(market, view) : again.state;
      if (venue.readsLess !== true) this.#readFor = market;
      const { failed } = this;
      const isTimeless = venue.isTimeless?.(state) === true;
      const slot = this.#newestSlot();
      return { kind: "hot", hot: { venue, market, state, slot, isTimeless, backing, unitsScale, refusesLean, failed } };
    } catch (error) {
      if (!(error instanceof TradewireError)) this.failed(error);
      return this.#fault(reasonOf(error));
    }
  }

  /**
   * The next state of a market that was read before; undefined if an account of it may be lacking. `read` asks for all that `needs`
   * names: if it finds everything, `needs` is not asked, which costs as many look-ups again.
   */
  #readAgain(market: Market): { readonly state: unknown } | undefined {
    this.#missesAny = false;
    try {
      const state = this.venue.read(market, this.view);
      return this.#missesAny ? undefined : { state };
    } catch {
      // It may have ended before it came to what is lacking: the whole way says which of the two it is.
      return undefined;
    }
  }

  #decode(own: Account): Market | undefined {
    const before = this.#decodedFrom;
    if (own !== before) {
      const { decoded } = this.venue;
      const isSame = this.#market !== undefined && decoded !== undefined && hasSameParts(own, before, decoded);
      if (!isSame) this.#market = this.venue.decode(own, this.pair);
      this.#decodedFrom = own;
    }
    return this.#market;
  }

  #fault(reason: string, { closed = false, isWithheld = false } = {}): MarketReading {
    const fault = { venue: this.venue.id, market: this.address.toString(), reason };
    if (isWithheld) return { kind: "fault", fault: { ...fault, isWithheld }, closed };
    return { kind: "fault", fault, closed };
  }

  #newestSlot(): bigint {
    let newest = 0n;
    for (const held of this.#held.values()) {
      const slot = held?.account?.slot;
      if (slot !== undefined && slot > newest) newest = slot;
    }
    return newest;
  }
}

/**
 * Reads what the markets still lack, in at most the allowed rounds, all markets together in each.
 * @throws TradewireError UPSTREAM_ERROR
 */
export async function completeWatches(watches: readonly MarketWatch[]): Promise<void> {
  for (let round = 0; round < ROUNDS_AFTER_SEARCH; round++) {
    const reads = watches.flatMap((watch) => {
      const reading = watch.read();
      return reading.kind === "lacking" ? [watch.hold(reading.addresses)] : [];
    });
    if (reads.length === 0) return;
    await Promise.all(reads);
  }
}
