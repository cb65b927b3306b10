import type { KnownAccount } from "../chain/port.ts";
import type { Address } from "../primitives/address.ts";
import type { Account, AccountView } from "../solana/account.ts";
import type { Market, Venue } from "../venues/venue.ts";
import { type FoundMarket, ROUNDS_AFTER_SEARCH, reasonOf } from "./discovery.ts";
import type { AccountHolder, LiveAccounts } from "./live-accounts.ts";
import type { HotMarket, MarketFault } from "./port.ts";

/** What is known of a watched market: ready to trade on, at fault, or short of accounts still to be read. */
type MarketReading =
  | { readonly kind: "hot"; readonly hot: HotMarket }
  | { readonly kind: "fault"; readonly fault: MarketFault; readonly closed: boolean }
  | { readonly kind: "lacking"; readonly addresses: readonly Address[] };

/** One market kept live: its accounts held, its state decoded once per change. */
export interface MarketWatch {
  readonly venue: Venue;
  readonly address: Address;
  /** The accounts behind the state. */
  readonly held: ReadonlySet<Address>;
  /** From memory; decodes only what has changed since the last call. */
  read(): MarketReading;
  /** Holds further accounts, and resolves when they are read, or are `known`. @throws TradewireError UPSTREAM_ERROR */
  hold(addresses: readonly Address[], known?: ReadonlyMap<Address, KnownAccount>): Promise<void>;
  release(): void;
}

interface MarketWatchOptions {
  readonly found: FoundMarket;
  readonly live: LiveAccounts;
  readonly onChange: () => void;
}

/**
 * Watches a market from the account it was found by. That account serves until it is live itself, so that the accounts the
 * market needs can be read together with it.
 */
export function watchMarket({ found, live, onChange }: MarketWatchOptions): MarketWatch {
  const venue: Venue = found.venue;
  const { address } = found.account;
  const held = new Set<Address>();
  let market: Market | undefined = found.market;
  let decodedFrom: Account = found.account;
  let wasLive = false;
  let reading: MarketReading | undefined;

  /** Only what this market holds: an account that is live for somebody else alone would change, or go, without a word. */
  const view: AccountView = {
    get(wanted) {
      const account = held.has(wanted) ? live.get(wanted) : undefined;
      if (wanted !== address) return account;
      if (account !== undefined) wasLive = true;
      return account === undefined && !wasLive ? found.account : account;
    },
  };
  const holder: AccountHolder = {
    onChange() {
      reading = undefined;
      onChange();
    },
  };
  const fault = (reason: string, closed = false): MarketReading => ({
    kind: "fault",
    fault: { venue: venue.id, market: address.toString(), reason },
    closed,
  });

  function derive(): MarketReading {
    const own = view.get(address);
    if (own === undefined) return { kind: "lacking", addresses: [address] };
    if (own === null) return fault("the market was closed", true);
    try {
      if (own !== decodedFrom) {
        market = venue.decode(own, { a: found.market.mints[0], b: found.market.mints[1] });
        decodedFrom = own;
      }
      if (market === undefined) return fault("the account is no longer a market", true);
      const lacking = venue.needs(market, view);
      if (!held.has(address)) return { kind: "lacking", addresses: [address, ...lacking] };
      if (lacking.length > 0) return { kind: "lacking", addresses: lacking };
      const state = venue.read(market, view);
      return { kind: "hot", hot: { venue, market, state, slot: newestSlot() } };
    } catch (error) {
      return fault(reasonOf(error));
    }
  }

  function newestSlot(): bigint {
    let newest = 0n;
    for (const one of held) {
      const slot = live.get(one)?.slot;
      if (slot !== undefined && slot > newest) newest = slot;
    }
    return newest;
  }

  return {
    venue,
    address,
    held,
    read() {
      reading ??= derive();
      return reading;
    },
    async hold(addresses, known) {
      reading = undefined;
      for (const one of addresses) held.add(one);
      await live.hold(holder, addresses, known);
    },
    release() {
      live.release(holder, held);
      held.clear();
    },
  };
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
