import type { KnownAccount } from "../chain/port.ts";
import { TradewireError } from "../errors/tradewire-error.ts";
import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";
import { messageTemplates } from "../solana/message/message-template.ts";
import { type SpotBound, spotBoundOf } from "../venues/spot-bound.ts";
import type { Market, MintPair, Venue } from "../venues/venue.ts";
import type { AccountHolder, LiveAccounts } from "./live-accounts.ts";
import type { JudgedMarket, MarketJudge } from "./market-judge.ts";
import type { HotMarket } from "./port.ts";
import { type FoundMarket, reasonOf } from "./search/discovery.ts";
import { AnsweredMarket } from "./watch/answered-market.ts";
import { DecodedMarket } from "./watch/decoded-market.ts";
import { FollowedState } from "./watch/followed-state.ts";
import { HeldAccounts } from "./watch/held-accounts.ts";
import { faultOf, type MarketReading } from "./watch/market-reading.ts";
import { type FollowingMarket, followSoon } from "./watch/soon-followed.ts";

/** Consecutive changes after which bounds are computed at once although no trade asks for them. */
const MOST_UNASKED = 8;

/** Makes its answers of the watch. */
interface WatchOwner {
  /** An account behind the market has changed, or what is thought of it. */
  invalidate(watch: MarketWatch): void;
  /** The market's bound after that was computed, before a trade asked for it. */
  followed(watch: MarketWatch, hot: HotMarket, spot: SpotBound): void;
  /** How many answers were made. */
  readonly answers: number;
}

interface MarketWatchOptions {
  readonly judge: MarketJudge;
  readonly found: FoundMarket;
  readonly live: LiveAccounts;
  readonly owner: WatchOwner;
  readonly warn: (message: string) => void;
}

/**
 * One market kept live: its accounts held, its state decoded once per change. The account it was found by serves until it is
 * live itself, so that the accounts the market needs can be read together with it.
 */
export class MarketWatch implements JudgedMarket, AccountHolder, AccountView, FollowingMarket {
  // Field order: first those that every change uses, then those of the read after it; most are in no processor cache.
  /** The base from which changes are followed without a read; undefined if the next change needs a read. */
  #followed: FollowedState | undefined;
  /** Newest slot of the held accounts; undefined if it must be computed. */
  #slot: bigint | undefined;
  #reading: MarketReading | undefined;
  /** The last answer, if its state has not been read yet. */
  #unread: HotMarket | undefined;
  readonly #owner: WatchOwner;
  readonly venue: Venue;
  readonly address: Address;
  readonly #held = new HeldAccounts();
  /** The market whose state was last read; undefined after a fault, and while accounts are lacking. */
  #readFor: Market | undefined;
  readonly #decoded: DecodedMarket;
  readonly #judge: MarketJudge;
  /** True once the view had to report an account as unknown. */
  #missesAny = false;
  /** True once its bound was asked for: before that, nothing is kept to follow its changes. */
  #isGlanced = false;
  /** Bounds computed at changes since a trade last asked, and the answers made by then. */
  #unasked = 0;
  #answers = 0;
  /** True while a change waits to be followed at the end of the turn. */
  #isDue = false;
  readonly isLasting = true;
  readonly #warn: (message: string) => void;
  readonly #live: LiveAccounts;
  /** How it was found; undefined once its own account is live, whose bytes replace those it was found by. */
  #found: FoundMarket | undefined;
  #hasFailed = false;

  constructor({ found, live, judge, owner, warn }: MarketWatchOptions) {
    this.venue = found.venue;
    this.address = found.account.address;
    this.#live = live;
    this.#found = found;
    this.#decoded = new DecodedMarket(found);
    this.#judge = judge;
    this.#owner = owner;
    this.#warn = warn;
  }

  get pair(): MintPair {
    return this.#decoded.pair;
  }

  /** The accounts behind the state. */
  get held(): readonly Address[] {
    return this.#held.addresses;
  }

  get view(): AccountView {
    return this;
  }

  /** Up to when every account behind the state is known to be current. Epoch milliseconds; Infinity if there is none. */
  get currentAtMs(): number {
    const { addresses, entries } = this.#held;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (let place = 0; place < addresses.length; place++)
      oldestMs = Math.min(oldestMs, this.#live.currentAtMs(addresses[place]!, entries[place]));
    return oldestMs;
  }

  /** An account behind it has changed. */
  onChange(address: Address, account: Account | null | undefined): void {
    if (account === null || account === undefined || this.#followed?.isBoundTo(address)) this.#followed = undefined;
    // An account that falls back to an older state may have been the newest.
    const isNewest =
      account !== null && account !== undefined && this.#slot !== undefined && account.slot >= this.#slot;
    this.#slot = isNewest ? account.slot : undefined;
    this.judged();
    if (this.#followed === undefined || this.#isDue) return;
    const { answers } = this.#owner;
    if (answers !== this.#answers) this.#unasked = 0;
    this.#answers = answers;
    if (this.#unasked >= MOST_UNASKED) return;
    this.#isDue = true;
    followSoon(this);
  }

  /** Computes the bound after a change before a trade asks for it. */
  followChange(): void {
    this.#isDue = false;
    if (this.#reading !== undefined) return;
    this.#unasked += 1;
    this.#reading = this.#follow();
    if (this.#reading?.kind === "hot") this.#owner.followed(this, this.#reading.hot, this.#reading.hot.spot!);
  }

  /** The next `read` will differ from the last one. */
  judged(): void {
    this.#reading = undefined;
    this.#unread = undefined;
    this.#owner.invalidate(this);
  }

  /** From memory; decodes only what has changed since the last call. */
  read(): MarketReading {
    if (this.#reading === undefined || this.#unread !== undefined) this.#reading = this.#derive();
    return this.#reading;
  }

  /** The same, but a market that was read before may be decoded lazily: its bound often shows that its state is not needed. */
  glance(): MarketReading {
    this.#unasked = 0;
    if (this.#reading !== undefined) return this.#reading;
    this.#isGlanced = true;
    this.#reading = this.#follow() ?? this.#derive();
    return this.#reading;
  }

  /** Holds further accounts, and resolves when they are read, or are `known`. @throws TradewireError UPSTREAM_ERROR */
  async hold(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void> {
    this.#reading = undefined;
    this.#followed = undefined;
    this.#slot = undefined;
    const holding = this.#live.hold(this, addresses, known);
    this.#held.add(addresses, (one) => this.#live.entryOf(one));
    await holding;
  }

  /**
   * The market's own account as it was found, if none of the others is yet to be read and it was read since then: a read by itself
   * would take a round. Beside others it is read again, so that all of them are of one slot.
   */
  knownAlone(lacking: readonly Address[], sinceMs: number): ReadonlyMap<Address, KnownAccount> | undefined {
    const found = this.#found;
    if (found === undefined || found.readAtMs < sinceMs) return undefined;
    const { account, readAtMs } = found;
    for (const one of lacking) if (one !== this.address && this.#live.get(one) === undefined) return undefined;
    return new Map([[this.address, { account, slot: account.slot, readAtMs }]]);
  }

  release(): void {
    this.#judge.end(this);
    this.#live.release(this, this.#held.addresses);
    this.#held.clear();
    this.#followed = undefined;
    messageTemplates.forget(this.address);
  }

  /** Our code failed on this market. Logged once. */
  readonly failed = (error: unknown): void => {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#warn(`Our code of ${this.venue.id} fails on ${this.address}; trades go elsewhere: ${String(error)}`);
  };

  /** Only accounts that this market holds: one held only for another market could change, or go, without notice. */
  get(wanted: Address): Account | null | undefined {
    const account = this.#held.get(wanted)?.account;
    if (account === undefined) this.#missesAny = true;
    if (wanted !== this.address) return account;
    if (account === undefined) return this.#found?.account;
    this.#found = undefined;
    return account;
  }

  #derive(): MarketReading {
    const readFor = this.#readFor;
    this.#readFor = undefined;
    this.#followed = undefined;
    this.#unread = undefined;
    const { venue, address } = this;
    const own = this.get(address);
    if (own === undefined) return { kind: "lacking", addresses: [address] };
    if (own === null) return this.#fault("the market was closed", { closed: true });
    try {
      const market = this.#decoded.of(own);
      if (market === undefined) return this.#fault("the account is no longer a market", { closed: true });
      const again = market === readFor ? this.#readAgain(market) : undefined;
      if (again === undefined) {
        const lacking = venue.needs(market, this);
        if (!this.#held.has(address)) return { kind: "lacking", addresses: [address, ...lacking] };
        if (lacking.length > 0) return { kind: "lacking", addresses: lacking };
      }
      this.#judge.begin(this);
      const { withheld, backing, unitsScale, refusesLean } = this.#judge.standingOf(this);
      if (withheld !== undefined) return this.#fault(withheld, { isWithheld: true });
      const state = again === undefined ? venue.read(market, this) : again.state;
      this.#readFor = market;
      const { failed } = this;
      this.#begin(market, state, own);
      const facts = { venue, market, slot: this.#newestSlot(), backing, unitsScale, refusesLean, failed };
      return { kind: "hot", hot: new AnsweredMarket(facts, { state, bound: this.#bound }) };
    } catch (error) {
      if (!(error instanceof TradewireError)) this.failed(error);
      return this.#fault(reasonOf(error));
    }
  }

  /**
   * The next state of a market that was read before; undefined if an account of it may be missing. `read` looks up every account
   * that `needs` names: if it finds them all, `needs` is not asked, which would cost as many look-ups again.
   */
  #readAgain(market: Market): { readonly state: unknown } | undefined {
    this.#missesAny = false;
    try {
      const state = this.venue.read(market, this);
      return this.#missesAny ? undefined : { state };
    } catch {
      // It may have thrown before it reached the missing account: the full path tells which of the two it is.
      return undefined;
    }
  }

  /** Changes are followed from this state. */
  #begin(market: Market, state: unknown, own: Account): void {
    if (this.#isGlanced) this.#followed = FollowedState.of(this.venue, market, state, own, this.#held);
  }

  /** The market after a change that its bound follows; undefined if it must be read. */
  #follow(): MarketReading | undefined {
    const spot = this.#boundNow();
    if (spot === undefined) return undefined;
    const { withheld, backing, unitsScale, refusesLean } = this.#judge.standingOf(this);
    if (withheld !== undefined) return undefined;
    const { venue, failed } = this;
    const { market } = this.#followed!;
    const facts = { venue, market, slot: this.#newestSlot(), backing, unitsScale, refusesLean, failed };
    const hot: HotMarket = new AnsweredMarket(facts, { spot, read: () => this.#readFollowed(hot, market) });
    this.#unread = hot;
    return { kind: "hot", hot };
  }

  /** The bound after a change; undefined if the market must be read. Code that throws on its bytes loses only the bound. */
  #boundNow(): SpotBound | undefined {
    try {
      return this.#followed?.boundNow();
    } catch (error) {
      this.#followed = undefined;
      this.failed(error);
      return undefined;
    }
  }

  /** The state of a market that was followed. @throws TradewireError if it cannot be read: the next answer says why */
  #readFollowed(hot: HotMarket, market: Market): unknown {
    const isLast = this.#unread === hot;
    this.#missesAny = false;
    try {
      const own = this.get(this.address);
      if (!own || this.#decoded.of(own) !== market)
        throw new TradewireError("VENUE_DEGRADED", "it is another market now");
      const state = this.venue.read(market, this);
      if (this.#missesAny && this.venue.needs(market, this).length > 0)
        throw new TradewireError("VENUE_DEGRADED", "accounts of it are yet to be read");
      if (isLast) {
        this.#unread = undefined;
        this.#begin(market, state, own);
      }
      return state;
    } catch (error) {
      this.#followed = undefined;
      if (isLast) this.judged();
      if (error instanceof TradewireError) throw error;
      this.failed(error);
      throw new TradewireError("VENUE_DEGRADED", reasonOf(error));
    }
  }

  readonly #bound = (state: unknown): SpotBound | undefined => spotBoundOf(this.venue, state, this);

  #fault(reason: string, more: { readonly closed?: boolean; readonly isWithheld?: boolean } = {}): MarketReading {
    return faultOf(this.venue.id, this.address, reason, more);
  }

  #newestSlot(): bigint {
    if (this.#slot !== undefined) return this.#slot;
    let newest = 0n;
    for (const held of this.#held.entries) {
      const slot = held?.account?.slot;
      if (slot !== undefined && slot > newest) newest = slot;
    }
    this.#slot = newest;
    return newest;
  }
}
