import type { HotMarket } from "../../../src/market/port.ts";
import type { Address } from "../../../src/primitives/address.ts";
import type { RoutingWorld } from "./worlds.ts";

/**
 * An independent judge of routes: every market is quoted exactly at many sizes, every path of up to three markets is listed,
 * and the trade is spread over them part by part, with no limit on paths or with one. It shares no code with the router.
 */

interface Edge {
  readonly hot: HotMarket;
  readonly inMint: Address;
  readonly outMint: Address;
  readonly sizes: Float64Array;
  readonly outs: Float64Array;
}

/** What the judge finds for one ask. Base units of output. */
export interface Verdict {
  /** The best single path; 0 if none can take the trade. */
  readonly single: number;
  /** The best found with the limit on paths. */
  readonly best: number;
  /** The best found without it: nothing can give more, up to the size of a part. */
  readonly bound: number;
}

const POINTS = 96;
const PARTS = 400;
const COARSE = 80;

/** Judges an exact input from the first mint of a world to the second. */
export function judge(world: RoutingWorld, amount: bigint, maxPaths: number): Verdict {
  const edges = edgesOf(world, amount);
  const paths = listPaths(edges, world.mints[0]!, world.mints[1]!);
  const all = new Set(edges.keys());
  let single = 0;
  for (const path of paths) single = Math.max(single, exactAlong(edges, path, amount, world));
  const bound = spread(edges, paths, Number(amount), all, PARTS);
  let open = all;
  for (;;) {
    const used = spread(edges, paths, Number(amount), open, COARSE).used;
    if (pathCount(edges, used, world) <= maxPaths) break;
    // Close the market whose loss costs least.
    let best = { out: -1, open };
    for (const closed of used) {
      const fewer = new Set([...used].filter((edge) => edge !== closed));
      const { out } = spread(edges, paths, Number(amount), fewer, COARSE);
      if (out > best.out) best = { out, open: fewer };
    }
    open = best.open;
  }
  const limited = spread(edges, paths, Number(amount), open, PARTS);
  return { single, best: Math.max(single, limited.out), bound: Math.max(single, bound.out) };
}

function edgesOf({ mints, marketsOf, clock }: RoutingWorld, amount: bigint): Edge[] {
  const edges: Edge[] = [];
  for (const inMint of mints) {
    for (const outMint of mints) {
      if (inMint === outMint || inMint === mints[1] || outMint === mints[0]) continue;
      for (const hot of marketsOf(inMint, outMint).markets) {
        const [sizes, outs] = [[0], [0]];
        for (let point = 1; point <= POINTS; point++) {
          // Denser where amounts are small. A hub's mint may be worth a little less than the input.
          const part = (point / POINTS) ** 2 * 1.05;
          const size = BigInt(Math.floor(Number(amount) * part));
          if (size === 0n) continue;
          try {
            const ask = { mode: "exactIn", inMint, outMint, amount: size, clock } as const;
            const { inAmount, outAmount } = hot.venue.quote(hot.state, ask);
            if (inAmount !== size) continue;
            sizes.push(Number(size));
            outs.push(Number(outAmount));
          } catch {
            if (sizes.length > 1) break;
          }
        }
        if (sizes.length > 1)
          edges.push({ hot, inMint, outMint, sizes: Float64Array.from(sizes), outs: Float64Array.from(outs) });
      }
    }
  }
  return edges;
}

/** Every path of one to three markets, as numbers of edges. */
function listPaths(edges: readonly Edge[], from: Address, to: Address): number[][] {
  const paths: number[][] = [];
  const walk = (mint: Address, path: number[], seen: readonly Address[]) => {
    for (const [index, edge] of edges.entries()) {
      if (edge.inMint !== mint || seen.includes(edge.outMint)) continue;
      const next = [...path, index];
      if (edge.outMint === to) paths.push(next);
      else if (next.length < 3) walk(edge.outMint, next, [...seen, edge.outMint]);
    }
  };
  walk(from, [], [from]);
  return paths;
}

/** What a single path gives, by exact quotes; 0 if it cannot take the trade. */
function exactAlong(edges: readonly Edge[], path: readonly number[], amount: bigint, { clock }: RoutingWorld): number {
  let held = amount;
  for (const index of path) {
    const { hot, inMint, outMint } = edges[index]!;
    try {
      const quote = hot.venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount: held, clock });
      held = quote.outAmount;
    } catch {
      return 0;
    }
  }
  return Number(held);
}

/** Spreads an amount over paths whose markets are open, each part along the one that gives most now. */
function spread(
  edges: readonly Edge[],
  paths: readonly (readonly number[])[],
  amount: number,
  open: ReadonlySet<number>,
  parts: number,
): { readonly out: number; readonly used: ReadonlySet<number> } {
  const taken = new Float64Array(edges.length);
  const used = new Set<number>();
  const usable = paths.filter((path) => path.every((edge) => open.has(edge)));
  const part = amount / parts;
  let out = 0;
  for (let index = 0; index < parts; index++) {
    let best: readonly number[] | undefined;
    let most = 0;
    for (const path of usable) {
      let held = part;
      for (const edge of path) held = valueAt(edges[edge]!, taken[edge]! + held) - valueAt(edges[edge]!, taken[edge]!);
      if (held > most) {
        most = held;
        best = path;
      }
    }
    if (best === undefined) return { out: 0, used };
    let held = part;
    for (const edge of best) {
      const gained = valueAt(edges[edge]!, taken[edge]! + held) - valueAt(edges[edge]!, taken[edge]!);
      taken[edge]! += held;
      used.add(edge);
      held = gained;
    }
    out += most;
  }
  return { out, used };
}

/** Output at a size, on straight lines between exact quotes; nothing more beyond the last. */
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

function pathCount(edges: readonly Edge[], used: ReadonlySet<number>, { mints }: RoutingWorld): number {
  const between = new Set([...used].map((edge) => edges[edge]!.outMint).filter((mint) => mint !== mints[1]));
  return used.size - between.size;
}
