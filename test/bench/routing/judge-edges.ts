import type { HotMarket } from "../../../src/market/port.ts";
import type { Address } from "../../../src/primitives/address.ts";
import type { Ask } from "../../../src/venues/venue.ts";
import type { RoutingWorld } from "./worlds.ts";

/** A market in one direction, quoted exactly at many sizes. */
export interface Edge {
  readonly hot: HotMarket;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly sizes: Float64Array;
  readonly outs: Float64Array;
}

/** Sizes quoted of each market. */
const POINTS = 128;
/** Halvings between what a market takes and what it refuses. */
const LIMIT_STEPS = 10;

/** Every market of a world in each direction that may lead from its first mint to its second. */
export function edgesOf({ mints, marketsOf, clock }: RoutingWorld, amount: bigint): Edge[] {
  const edges: Edge[] = [];
  for (const inMint of mints) {
    for (const outMint of mints) {
      if (inMint === outMint || inMint === mints[1] || outMint === mints[0]) continue;
      for (const hot of marketsOf(inMint, outMint).markets) {
        const [sizes, outs] = [[0], [0]];
        for (let point = 1; point <= POINTS; point++) {
          // Denser where amounts are small. A hub's mint may be worth less than the input.
          const part = (point / POINTS) ** 2 * 2;
          const size = BigInt(Math.floor(Number(amount) * part));
          if (size === 0n) continue;
          try {
            const ask = { mode: "exactIn", inMint, outMint, amount: size, clock } as const;
            const { inAmount, outAmount } = hot.venue.quote(hot.state, ask);
            if (inAmount !== size) continue;
            sizes.push(Number(size));
            outs.push(Number(outAmount));
          } catch {
            if (sizes.length > 1) {
              sampleLimit(hot, { inMint, outMint, clock }, [sizes, outs], Number(size));
              break;
            }
          }
        }
        if (sizes.length > 1)
          edges.push({ hot, inMint, outMint, sizes: Float64Array.from(sizes), outs: Float64Array.from(outs) });
      }
    }
  }
  return edges;
}

/** Adds quotes between the last size that a market takes and the first that it refuses. */
function sampleLimit(
  { venue, state }: HotMarket,
  ask: Pick<Ask, "inMint" | "outMint" | "clock">,
  [sizes, outs]: readonly [number[], number[]],
  refusedAt: number,
): void {
  let refused = refusedAt;
  for (let step = 0; step < LIMIT_STEPS; step++) {
    const size = Math.floor((sizes.at(-1)! + refused) / 2);
    try {
      const { outAmount } = venue.quote(state, { ...ask, mode: "exactIn", amount: BigInt(size) });
      sizes.push(size);
      outs.push(Number(outAmount));
    } catch {
      refused = size;
    }
  }
}

/** What an edge gives for more; 0 beyond what it takes. */
export function gainOf(edge: Edge, taken: number, more: number): number {
  return taken + more > edge.sizes.at(-1)! ? 0 : valueAt(edge, taken + more) - valueAt(edge, taken);
}

/** Output at a size, on straight lines between exact quotes. */
function valueAt({ sizes, outs }: Edge, size: number): number {
  const last = sizes.length - 1;
  if (size >= sizes[last]!) return outs[last]!;
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sizes[middle]! <= size) low = middle;
    else high = middle;
  }
  const part = (size - sizes[low]!) / (sizes[high]! - sizes[low]!);
  return outs[low]! + part * (outs[high]! - outs[low]!);
}
