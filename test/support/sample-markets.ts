import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import type { HotMarket } from "../../src/market/port.ts";
import { Address } from "../../src/primitives/address.ts";
import type { Account, AccountView, ChainClock } from "../../src/solana/account.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Venue, VenueId } from "../../src/venues/venue.ts";

/** What `make-markets.ts` writes: markets of one mint against SOL, and every account behind them. */
export interface MarketsFile {
  readonly mint: string;
  readonly clock: { readonly slot: string; readonly epoch: string; readonly unixTimestamp: string };
  readonly markets: readonly {
    readonly venue: VenueId;
    readonly name: string;
    readonly address: string;
    /** Accounts that do not exist are listed too, without data: they were asked for. */
    readonly accounts: readonly (readonly [address: string, owner: string, lamports: string, data: string] | string)[];
  }[];
}

/** A market in memory, as the live account view would have it. */
export interface SampleMarket {
  readonly name: string;
  readonly venue: Venue;
  readonly hot: HotMarket;
  readonly accounts: AccountView;
  /** All of `accounts`, those that do not exist among them. */
  readonly addresses: readonly Address[];
}

export interface SampleMarkets {
  /** Traded against SOL on every one of the markets. */
  readonly mint: Address;
  readonly clock: ChainClock;
  readonly markets: readonly SampleMarket[];
}

const FILE = new URL("../fixtures/markets.json.br", import.meta.url);

/** The markets kept in `fixtures/`, one or more of every venue, decoded as they are from a chain. */
export function readSampleMarkets(): SampleMarkets {
  const file = JSON.parse(brotliDecompressSync(readFileSync(FILE)).toString()) as MarketsFile;
  const clock: ChainClock = {
    slot: BigInt(file.clock.slot),
    epoch: BigInt(file.clock.epoch),
    unixTimestamp: BigInt(file.clock.unixTimestamp),
  };
  const mint = Address.of(file.mint);
  const pair = { a: mint, b: Address.of("So11111111111111111111111111111111111111112") };
  const markets = file.markets.flatMap((one): SampleMarket[] => {
    const venue = venues.find(({ id }) => id === one.venue);
    if (venue === undefined) return [];
    const held = new Map<Address, Account | null>();
    for (const account of one.accounts) {
      if (typeof account === "string") {
        held.set(Address.of(account), null);
        continue;
      }
      const [address, owner, lamports, data] = account;
      held.set(Address.of(address), {
        address: Address.of(address),
        owner: Address.of(owner),
        lamports: BigInt(lamports),
        data: Uint8Array.from(Buffer.from(data, "base64")),
        executable: false,
        slot: clock.slot,
      });
    }
    const accounts: AccountView = { get: (address) => held.get(address) };
    const market = venue.decode(held.get(Address.of(one.address))!, pair);
    if (market === undefined) throw new Error(`${one.name} of ${one.venue} is no market: make the samples again`);
    const hot: HotMarket = { venue, market, state: venue.read(market, accounts), slot: clock.slot };
    return [{ name: one.name, venue, hot, accounts, addresses: [...held.keys()] }];
  });
  return { mint, clock, markets };
}
