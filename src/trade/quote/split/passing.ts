import type { Address } from "../../../primitives/address.ts";
import { passingShare } from "../../../primitives/slippage.ts";
import { isBetweenHubs } from "../../../solana/hub-mints.ts";
import type { SwapMode } from "../../../venues/venue.ts";

/** A trade of one mint for another on a route; the order of a list of them is that of execution. */
interface Crossing {
  readonly inMint: Address;
  readonly outMint: Address;
}

/** How the slippage of a route is divided. Parts per billion. */
export interface Passing {
  /** By mint between two markets: the share for the amount that passes. */
  readonly shares: ReadonlyMap<Address, bigint>;
  /** What is left for the caller's side: all but the shares along the path that has most of them. */
  readonly rest: bigint;
}

/**
 * Divides the slippage of a route between the amounts that pass from market to market and the caller's side.
 *
 * @param crossings the markets of the route, each after those that feed it
 */
export function dividePassing(
  crossings: readonly Crossing[],
  slippagePpb: bigint,
  mode: SwapMode,
  inMint: Address,
  outMint: Address,
): Passing {
  const depths = new Map<Address, number>([[inMint, 0]]);
  for (const crossing of crossings) {
    const depth = (depths.get(crossing.inMint) ?? 0) + 1;
    if (depth > (depths.get(crossing.outMint) ?? 0)) depths.set(crossing.outMint, depth);
  }
  const legs = depths.get(outMint) ?? 1;
  const shares = new Map<Address, bigint>();
  const along = new Map<Address, bigint>([[inMint, 0n]]);
  if (legs > 1) {
    for (const crossing of crossings) {
      // For exactIn the market that yields the passing amount decides how far it may move, for exactOut the one that takes it.
      const hub = mode === "exactIn" ? crossing.outMint : crossing.inMint;
      if (hub === inMint || hub === outMint) continue;
      const share = passingShare(slippagePpb, isBetweenHubs(crossing.inMint, crossing.outMint), legs);
      if (share > (shares.get(hub) ?? -1n)) shares.set(hub, share);
    }
    for (const crossing of crossings) {
      const sum = (along.get(crossing.inMint) ?? 0n) + (shares.get(crossing.outMint) ?? 0n);
      if (sum > (along.get(crossing.outMint) ?? 0n)) along.set(crossing.outMint, sum);
    }
  }
  return { shares, rest: slippagePpb - (along.get(outMint) ?? 0n) };
}
