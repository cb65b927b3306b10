import { Address } from "../../../src/primitives/address.ts";
import { programErrors } from "../../../src/venues/shared/program-errors.ts";
import type { Market, Venue } from "../../../src/venues/venue.ts";
import type { Turn } from "./turn-watch.ts";

export const PAIRS = 4_000;
export const MARKETS_PER_PAIR = 25;
export const SINGLES = 25_000;
export const LIVE_MARKETS = PAIRS * MARKETS_PER_PAIR;
export const ACCOUNTS = LIVE_MARKETS + SINGLES;

export interface LiveStateReport {
  /** The turns of each. */
  readonly phases: Readonly<Record<string, readonly Turn[]>>;
  /** Of the last pair's markets: the value of the newest burst. */
  readonly states: readonly unknown[];
  /** Versions beside the newest of each account after the root. */
  readonly spare: number;
  readonly marketsPerPair: number;
  readonly warnings: readonly string[];
}
export const addressOf = (kind: number, index: number) => {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(0, index);
  return Address.from(bytes);
};
export const pairOf = (i: number) => ({ a: addressOf(1, 0), b: addressOf(2, i) });

/** A venue whose pairs have markets at known addresses; the pair's number is in its second mint. */
export const venue: Venue = {
  id: "raydium_cpmm",
  programs: [addressOf(9, 0)],
  supports: { exactOut: true, token2022: true },
  search({ a, b }) {
    const pair = new DataView((a.bytes[31] === 2 ? a : b).bytes.buffer.slice(0)).getUint32(0);
    const addresses = Array.from({ length: MARKETS_PER_PAIR }, (_, i) => addressOf(3, pair * MARKETS_PER_PAIR + i));
    return [{ kind: "probe", addresses }];
  },
  decode: ({ address }, { a, b }): Market => ({ venue: "raydium_cpmm", address, mints: [a, b], nativeSol: false }),
  needs: () => [],
  read: (market, have) => have.get(market.address)!.data[0],
  quote: () => {
    throw new Error("not asked");
  },
  swap: () => {
    throw new Error("not asked");
  },
  errors: programErrors([]),
};
