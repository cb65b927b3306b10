import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { Address } from "../../src/primitives/address.ts";
import type { Account, AccountView, ChainClock } from "../../src/solana/account.ts";
import { venues } from "../../src/venues/registry.ts";
import type { Ask, Venue, VenueId } from "../../src/venues/venue.ts";

/** Trades that venues' own programs executed, with all accounts that their quotes read. Amounts in base units, as text. */
export type ExecutionsFile = Readonly<Record<VenueId, VenueExecutions>>;

/** The trades of one venue. */
export interface VenueExecutions {
  readonly accounts: readonly (readonly [address: string, owner: string, lamports: string, data: string])[];
  readonly trades: readonly {
    readonly market: string;
    readonly pair: readonly [string, string];
    readonly clock: readonly [slot: string, epoch: string, unixTimestamp: string];
    readonly mode: Ask["mode"];
    /** Place of the input's mint in the pair. */
    readonly from: 0 | 1;
    readonly amount: string;
    /** What left the wallet and what arrived in it. */
    readonly moved: readonly [string, string];
    /** Compute units that the swap used. */
    readonly units: number;
    readonly wallet: string;
    /** The wallet's token accounts of the input and the output. */
    readonly ends: readonly [string, string];
    /** Accounts that the trade named and that did not exist. */
    readonly absent: readonly string[];
    /** Accounts before the trade: places in the list above, or the address of one that did not exist. */
    readonly accounts: readonly (number | string)[];
    /** And after it, if the venue says what a trade leaves. */
    readonly left?: readonly (number | string)[];
  }[];
}

/** A trade that a program executed. */
export interface Execution {
  readonly venue: Venue;
  readonly market: Address;
  readonly pair: readonly [Address, Address];
  readonly ask: Ask;
  readonly moved: { readonly inAmount: bigint; readonly outAmount: bigint };
  readonly units: number;
  readonly wallet: Address;
  readonly source: Address;
  readonly destination: Address;
  readonly exists: (address: Address) => boolean;
  readonly before: AccountView;
  readonly after: AccountView | undefined;
}

const FILE = new URL("../fixtures/executions.json.br", import.meta.url);

/** The executions kept in `fixtures/`, by venue. */
export function readExecutions(): readonly (readonly [VenueId, readonly Execution[]])[] {
  const file = JSON.parse(brotliDecompressSync(readFileSync(FILE)).toString()) as ExecutionsFile;
  return Object.entries(file).map(([id, executions]) => [id, executionsOf(venueOf(id), executions)] as const);
}

function executionsOf(venue: Venue, { accounts, trades }: VenueExecutions): readonly Execution[] {
  return trades.map((trade) => {
    const [first, second] = trade.pair.map((mint) => Address.of(mint)) as [Address, Address];
    const [slot, epoch, unixTimestamp] = trade.clock.map(BigInt) as [bigint, bigint, bigint];
    const clock: ChainClock = { slot, epoch, unixTimestamp };
    const [inMint, outMint] = trade.from === 0 ? [first, second] : [second, first];
    const [inAmount, outAmount] = trade.moved.map(BigInt) as [bigint, bigint];
    const [source, destination] = trade.ends.map((end) => Address.of(end)) as [Address, Address];
    const viewOf = (places: readonly (number | string)[]): AccountView => {
      const held = new Map<Address, Account | null>();
      for (const place of places) {
        if (typeof place === "string") held.set(Address.of(place), null);
        else {
          const account = accountAt(accounts[place]!, slot);
          held.set(account.address, account);
        }
      }
      return { get: (address) => held.get(address) };
    };
    const absent = new Set(trade.absent);
    return {
      venue,
      market: Address.of(trade.market),
      pair: [first, second],
      ask: { mode: trade.mode, inMint, outMint, amount: BigInt(trade.amount), clock },
      moved: { inAmount, outAmount },
      units: trade.units,
      wallet: Address.of(trade.wallet),
      source,
      destination,
      exists: (address) => !absent.has(address.toString()),
      before: viewOf(trade.accounts),
      after: trade.left === undefined ? undefined : viewOf(trade.left),
    };
  });
}

function accountAt([address, owner, lamports, data]: VenueExecutions["accounts"][number], slot: bigint): Account {
  return {
    address: Address.of(address),
    owner: Address.of(owner),
    lamports: BigInt(lamports),
    data: Uint8Array.from(Buffer.from(data, "base64")),
    executable: false,
    slot,
  };
}

function venueOf(id: VenueId): Venue {
  const venue = venues.find((one) => one.id === id);
  if (venue === undefined) throw new Error(`no venue ${id}`);
  return venue;
}
