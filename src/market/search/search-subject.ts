import { type Address, compareAddresses } from "../../primitives/address.ts";
import { HUB_MINTS } from "../../solana/hub-mints.ts";
import type { AccountFilter, MintPair, Venue } from "../../venues/venue.ts";

/**
 * What one search of the chain is about: a mint with whatever it trades against or, for two hubs, the pair itself, because
 * everything trades against a hub.
 */
export interface SearchSubject {
  /** Names it in the index. */
  readonly key: string;
  /** Undefined for a pair of hubs. */
  readonly mint: Address | undefined;
  readonly pair: MintPair;
}

/**
 * The subjects that together cover the pair: one if it has a hub, else two.
 *
 * @param hubMints mints that trades pass through. SOL and USDC trade against everything, whether trades pass through them or not
 */
export function subjectsOf(pair: MintPair, hubMints: readonly Address[] = HUB_MINTS): readonly SearchSubject[] {
  const { a, b } = pair;
  const mints = [a, b].filter((mint) => !hubMints.includes(mint) && !HUB_MINTS.includes(mint));
  if (mints.length > 0) return mints.map((mint) => ({ key: mint.toString(), mint, pair }));
  const [low, high] = compareAddresses(a, b) < 0 ? [a, b] : [b, a];
  return [{ key: `${low}:${high}`, mint: undefined, pair }];
}

/** The filters of a venue that search a subject; undefined if the venue searches its mint pair by pair only. */
export function filtersOf(venue: Venue, { mint, pair }: SearchSubject): readonly AccountFilter[] | undefined {
  return mint === undefined ? pairFilters(venue, pair) : venue.searchMint?.(mint);
}

/** The filters of a venue for one pair. */
export function pairFilters(venue: Venue, pair: MintPair): readonly AccountFilter[] {
  return venue.search(pair).filter((search) => search.kind === "filter");
}
