import { Filling } from "./filling.ts";
import { type Flow, type FlowNetwork, type FlowSearch, INPUT, OUTPUT } from "./flow.ts";
import { placeRest } from "./worse-entries.ts";

/** Less than this of the input is not worth a part. Fraction. */
const CRUMB = 1e-9;
/** How often paths change their entries; input that then exceeds a market's limit is placed again. */
const MOST_CHANGES = 4;
/** Part of the input that rounding may leave unplaced after paths have changed their entries. Fraction. */
const MOST_MISSED = 1e-6;

/**
 * Fills the network: places the input part by part, each along the path that gives the most for it at that point. Then smaller and smaller
 * parts move from the path that gives the least for its last part to the path that gives the most for one more. Between hubs, no hub is
 * both the start of one trade and the end of another: no path is longer than three markets, and nothing runs in a circle.
 *
 * @param start a flow to begin with; its part over closed edges is placed again
 */
export function fillNetwork(network: FlowNetwork, search: FlowSearch, start?: Flow): Flow | undefined {
  return filled(network, search, start)?.flow(search.inAmount / search.parts);
}

/** The same, and paths over hubs that carry little are given up whole if that gains, since moving parts leaves a remainder on them. */
export function fillWholly(network: FlowNetwork, search: FlowSearch, start?: Flow): Flow | undefined {
  const part = search.inAmount / search.parts;
  const filling = filled(network, search, start);
  filling?.giveUpPaths(part / 2);
  return filling?.flow(part);
}

function filled(network: FlowNetwork, search: FlowSearch, start: Flow | undefined): Filling | undefined {
  const { inAmount, parts, leastParts, enough = Number.POSITIVE_INFINITY, isFine = false } = search;
  let filling = new Filling(network, search);
  if (start !== undefined) filling.begin(start.paths, inAmount / start.inAmount);
  const part = inAmount / parts;
  let changes = 0;
  if (filling.inAmount < inAmount * (1 - CRUMB)) filling.cut(part);
  while (filling.inAmount < inAmount * (1 - CRUMB)) {
    if (filling.push(Math.min(part, inAmount - filling.inAmount)) > 0) continue;
    if (filling.outAmount >= enough) break;
    if (changes > 0 && filling.inAmount >= inAmount * (1 - MOST_MISSED)) break;
    search.work?.reads(filling.reads);
    const full = changes++ < MOST_CHANGES ? filling.flow(part) : undefined;
    const paths = full === undefined ? undefined : placeRest(network, search, full);
    if (paths === undefined) return undefined;
    filling = new Filling(network, search);
    filling.begin(paths, 1);
    filling.cut(part);
  }
  filling.even(part / 2, inAmount / leastParts, isFine);
  search.work?.reads(filling.reads);
  return filling;
}

/** What the best single path gives for the whole amount, or for as much of it as its markets take. */
export function singleOut({ mints, edges }: FlowNetwork, inAmount: number, maxLegs: number): number {
  let best = 0;
  let reached = new Float64Array(mints);
  reached[INPUT] = inAmount;
  for (let leg = 0; leg < maxLegs; leg++) {
    const next = new Float64Array(mints);
    for (const { from, to, curve } of edges) {
      const amount = reached[from]!;
      if (amount > 0) next[to] = Math.max(next[to]!, curve.out(amount));
    }
    best = Math.max(best, next[OUTPUT]!);
    reached = next;
  }
  return best;
}

/** What reaches a mint along a path. */
interface Arrival {
  readonly amount: number;
  readonly legs: readonly number[];
}

type SingleSearch = Pick<FlowSearch, "inAmount" | "maxLegs" | "closed">;

/** The open edges of the best single path that takes the whole amount; undefined if none does. */
export function singlePath(network: FlowNetwork, search: SingleSearch): ReadonlySet<number> | undefined {
  const best = bestArrival(network, search);
  return best === undefined ? undefined : new Set(best.legs);
}

/** What the best single path that takes the whole amount gives for it; 0 if none does. */
export function wholeOut(network: FlowNetwork, search: SingleSearch): number {
  return bestArrival(network, search)?.amount ?? 0;
}

function bestArrival({ edges }: FlowNetwork, { inAmount, maxLegs, closed }: SingleSearch): Arrival | undefined {
  let best: Arrival | undefined;
  let reached = new Map<number, Arrival>([[INPUT, { amount: inAmount, legs: [] }]]);
  for (let leg = 0; leg < maxLegs; leg++) {
    const next = new Map<number, Arrival>();
    for (const [index, { from, to, curve }] of edges.entries()) {
      const before = reached.get(from);
      if (before === undefined || closed[index] !== 0 || before.amount > curve.most) continue;
      const amount = curve.out(before.amount);
      if (amount > (next.get(to)?.amount ?? 0)) next.set(to, { amount, legs: [...before.legs, index] });
    }
    const arrived = next.get(OUTPUT);
    if (arrived !== undefined && arrived.amount > (best?.amount ?? 0)) best = arrived;
    reached = next;
  }
  return best;
}

/** Parallel paths of a flow: edges in use, less the mints between. */
export function pathsOf({ mints, edges }: FlowNetwork, { inputs }: Flow): number {
  let paths = 0;
  const passed = new Uint8Array(mints);
  for (let index = 0; index < edges.length; index++) {
    if (inputs[index]! <= 0) continue;
    const { to } = edges[index]!;
    paths++;
    if (to !== OUTPUT) passed[to] = 1;
  }
  return passed.reduce((rest, isPassed) => rest - isPassed, paths);
}
