import type { HotMarket } from "../../../src/market/port.ts";
import type { Address } from "../../../src/primitives/address.ts";
import type { Quote } from "../../../src/venues/venue.ts";
import { type Edge, edgesOf, gainOf } from "./judge-edges.ts";
import { fitsLimits } from "./judge-limits.ts";
import type { RoutingWorld } from "./worlds.ts";

/**
 * An independent judge of routes: every market is quoted exactly at many sizes, every path of up to three markets is listed,
 * and the trade is spread over them part by part, with no limit on paths or with one. It shares no code with the router.
 */

/** What the judge finds for one ask. Base units of output. */
export interface Verdict {
  /** The best single path; 0 if none can take the trade. */
  readonly single: number;
  /** The best found with the limit on paths. */
  readonly best: number;
  /** The best found whose transaction is within the network's limits too, but for its bytes: accounts and compute units. */
  readonly fitting: number;
  /** The best found without it: nothing can give more, up to the size of a part. */
  readonly bound: number;
}

const PARTS = 400;
const COARSE = 80;

/**
 * Judges an exact input from the first mint of a world to the second. It optimises over what a transaction of the service can
 * hold: no way from input to output over its markets is longer than three, so that a hub is either the start
 * of trades between hubs or the end; and for `best` at most `maxPaths` parallel paths. No costs are counted. What `best` gives
 * is quoted exactly.
 */
export function judge(world: RoutingWorld, amount: bigint, maxPaths: number): Verdict {
  const edges = edgesOf(world, amount);
  const verdict = { single: 0, best: 0, fitting: 0, bound: 0 };
  for (const starts of divisionsOf(world.mints, edges)) {
    const paths = listPaths(edges, world.mints, starts);
    for (const path of paths) verdict.single = Math.max(verdict.single, exactAlong(edges, path, amount, world));
    const search = { edges, paths, amount: Number(amount) };
    verdict.bound = Math.max(verdict.bound, spread(search, new Set(edges.keys()), PARTS).out);
    const [from, to, ...hubs] = world.mints;
    const order = [...hubs].sort((a, b) => Number(starts.has(b)) - Number(starts.has(a)));
    const exactIn = (open: ReadonlySet<number>) =>
      exactOver(edges, spread(search, open, PARTS).taken, amount, { ...world, mints: [from!, to!, ...order] });
    const isNarrow: Holds = ({ used }) => pathCount(edges, used, to!) <= maxPaths;
    const open = narrow(search, isNarrow);
    verdict.best = Math.max(verdict.best, exactIn(open));
    const isLight: Holds = (spreading) => isNarrow(spreading) && fitsLimits(edges, spreading, world);
    const light = isLight(spread(search, open, COARSE)) ? open : narrow(search, isLight);
    verdict.fitting = Math.max(verdict.fitting, exactIn(light));
  }
  const best = Math.max(verdict.single, verdict.best);
  const fitting = Math.max(verdict.single, verdict.fitting);
  return { single: verdict.single, fitting, best: Math.max(best, fitting), bound: Math.max(best, verdict.bound) };
}

/** A search for the best division over some of the paths. */
interface Search {
  readonly edges: readonly Edge[];
  readonly paths: readonly (readonly number[])[];
  readonly amount: number;
}

/** True if a transaction may trade so. */
type Holds = (spreading: ReturnType<typeof spread>) => boolean;

/** Closes markets until what is left is allowed, then exchanges one for another while that gives more. */
function narrow(search: Search, holds: Holds): ReadonlySet<number> {
  const widest = spread(search, new Set(search.edges.keys()), COARSE).used;
  let { open, out } = closeDown(search, widest, holds);
  for (const other of widest) {
    if (open.has(other)) continue;
    const swapped = closeDown(search, new Set([...open, other]), holds);
    if (swapped.out > out) ({ open, out } = swapped);
  }
  return open;
}

function closeDown(search: Search, from: ReadonlySet<number>, holds: Holds) {
  let open = from;
  for (;;) {
    const spreading = spread(search, open, COARSE);
    const { used, out } = spreading;
    if (out === 0 || holds(spreading)) return { open: used, out };
    // The market whose loss costs least.
    let best = { out: -1, open };
    for (const closed of used) {
      const fewer = new Set([...used].filter((edge) => edge !== closed));
      const { out } = spread(search, fewer, COARSE);
      if (out > best.out) best = { out, open: fewer };
    }
    open = best.open;
  }
}

/** Every set of hubs that may begin a trade between hubs; the others may end one. One set if no market trades between hubs. */
function divisionsOf(mints: readonly Address[], edges: readonly Edge[]): readonly ReadonlySet<Address>[] {
  const hubs = mints.slice(2);
  if (!edges.some(({ inMint, outMint }) => hubs.includes(inMint) && hubs.includes(outMint))) return [new Set()];
  const sets = Array.from({ length: 2 ** hubs.length - 2 }, (_, bits) => bits + 1);
  return sets.map((bits) => new Set(hubs.filter((_, index) => (bits >> index) & 1)));
}

/** Every path of one to three markets, as numbers of edges. */
function listPaths(edges: readonly Edge[], mints: readonly Address[], starts: ReadonlySet<Address>): number[][] {
  const paths: number[][] = [];
  const [from, to] = mints;
  const walk = (mint: Address, path: number[]) => {
    for (const [index, edge] of edges.entries()) {
      if (edge.inMint !== mint) continue;
      const next = [...path, index];
      if (edge.outMint === to) paths.push(next);
      else if (next.length === 1 || (next.length === 2 && starts.has(mint) && !starts.has(edge.outMint)))
        walk(edge.outMint, next);
    }
  };
  walk(from!, []);
  return paths;
}

/** What a single path gives, by exact quotes; 0 if it cannot take the trade. */
function exactAlong(edges: readonly Edge[], path: readonly number[], amount: bigint, { clock }: RoutingWorld): number {
  let held = amount;
  for (const [step, index] of path.entries()) {
    const { hot, inMint, outMint } = edges[index]!;
    try {
      const quote = hot.venue.quote(hot.state, { mode: "exactIn", inMint, outMint, amount: held, clock });
      held = step === path.length - 1 ? quote.outAmount : passedOn(hot, quote);
    } catch {
      return 0;
    }
  }
  return Number(held);
}

/** What another market may take of a quote's output: less where the program may pay less than it checks. */
function passedOn({ venue }: HotMarket, quote: Quote): bigint {
  return venue.leastArriving?.(quote, quote.outAmount) ?? quote.outAmount;
}

/** What a division gives by exact quotes, each mint divided as the parts were; 0 if a market refuses its part. */
function exactOver(edges: readonly Edge[], taken: Float64Array, amount: bigint, world: RoutingWorld): number {
  const { mints, clock } = world;
  const held = new Map([[mints[0]!, amount]]);
  for (const mint of [mints[0]!, ...mints.slice(2)]) {
    const from = edges.map((edge, index) => ({ ...edge, part: taken[index]! })).filter((one) => one.inMint === mint);
    const used = from.filter(({ part }) => part > 0);
    const total = used.reduce((sum, { part }) => sum + part, 0);
    let left = held.get(mint) ?? 0n;
    for (const [index, { hot, outMint, part }] of used.entries()) {
      const share = (held.get(mint)! * BigInt(Math.floor((part / total) * 1e12))) / BigInt(1e12);
      const input = index === used.length - 1 ? left : share;
      left -= input;
      try {
        const quote = hot.venue.quote(hot.state, { mode: "exactIn", inMint: mint, outMint, amount: input, clock });
        // A market that rounds may leave a few units of its part: they stay with the wallet.
        if (input - quote.inAmount > 2n + input / 1_000_000n) return 0;
        const arriving = outMint === mints[1] ? quote.outAmount : passedOn(hot, quote);
        held.set(outMint, (held.get(outMint) ?? 0n) + arriving);
      } catch {
        return 0;
      }
    }
  }
  return Number(held.get(mints[1]!) ?? 0n);
}

/** Spreads an amount over paths whose markets are open, each part along the one that gives most now. */
function spread({ edges, paths, amount }: Search, open: ReadonlySet<number>, parts: number) {
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
      for (const edge of path) held = gainOf(edges[edge]!, taken[edge]!, held);
      if (held > most) {
        most = held;
        best = path;
      }
    }
    if (best === undefined) return { out: 0, used, taken };
    let held = part;
    for (const edge of best) {
      const gained = gainOf(edges[edge]!, taken[edge]!, held);
      taken[edge]! += held;
      used.add(edge);
      held = gained;
    }
    out += most;
  }
  return { out, used, taken };
}

function pathCount(edges: readonly Edge[], used: ReadonlySet<number>, to: Address): number {
  const between = new Set([...used].map((edge) => edges[edge]!.outMint).filter((mint) => mint !== to));
  return used.size - between.size;
}
