import { passingShare } from "./slippage.ts";

/** A trade of one mint for another on a route; the order of a list of them is that of execution. */
interface Crossing<Mint> {
  readonly inMint: Mint;
  readonly outMint: Mint;
}

/** How the slippage of a route is divided. Parts per billion. */
export interface Passing<Mint> {
  /** By mint between two markets: the share for the amount that passes. */
  readonly shares: ReadonlyMap<Mint, bigint>;
  /** What is left for the caller's side: all but the shares along the path that has most of them. */
  readonly rest: bigint;
}

/** The trade whose slippage is divided. */
interface PassingTerms<Mint> extends Crossing<Mint> {
  readonly mode: "exactIn" | "exactOut";
  readonly slippagePpb: bigint;
  /** True for a market that trades one deep hub for another. */
  readonly isBetweenHubs: (inMint: Mint, outMint: Mint) => boolean;
}

/**
 * Divides the slippage of a route between the amounts that pass from market to market and the caller's side.
 *
 * @param crossings the markets of the route, each after those that feed it
 */
export function dividePassing<Mint>(crossings: readonly Crossing<Mint>[], terms: PassingTerms<Mint>): Passing<Mint> {
  const { inMint, outMint, mode, slippagePpb, isBetweenHubs } = terms;
  const legs = longestPath(crossings, inMint, outMint);
  const shares = new Map<Mint, bigint>();
  const along = new Map<Mint, bigint>([[inMint, 0n]]);
  if (legs === 1) return { shares, rest: slippagePpb };
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
  return { shares, rest: slippagePpb - (along.get(outMint) ?? 0n) };
}

/** Markets on the longest path of a route. */
function longestPath<Mint>(crossings: readonly Crossing<Mint>[], inMint: Mint, outMint: Mint): number {
  const depths = new Map<Mint, number>([[inMint, 0]]);
  for (const crossing of crossings) {
    const depth = (depths.get(crossing.inMint) ?? 0) + 1;
    if (depth > (depths.get(crossing.outMint) ?? 0)) depths.set(crossing.outMint, depth);
  }
  return depths.get(outMint) ?? 1;
}
