import { type Flow, type FlowEdge, type FlowNetwork, type FlowSearch, INPUT, OUTPUT, type PathShare } from "./flow.ts";

/** Bisection steps to find the input of an output. */
const HALVINGS = 24;
/** Points read off curves to compare an entry, and for each bisection step. */
const READS_OF_A_CHANGE = 8;
const READS_OF_A_STEP = 2;
/** Paths that change their entry at most. */
const MOST_CHANGED = 8;
/** A remainder below this counts as placed: about the error of the bisection. Fraction. */
const CRUMB = 1e-7;

/** A path that takes another market to its hub, for the same amount there. */
interface Change {
  readonly path: PathShare;
  readonly entry: number;
  /** What the path no longer puts into its own entry, and what it puts into the other one. Base units. */
  readonly less: number;
  readonly more: number;
}

/**
 * Places the rest of an input when no path takes any more because the markets behind the hubs are full: paths reach their hub at a worse
 * price, which uses more input for the same amount at the hub.
 *
 * @returns the paths that carry everything; undefined if the rest is still not placed
 */
export function placeRest(
  { edges }: FlowNetwork,
  { closed, inAmount, work }: Pick<FlowSearch, "closed" | "inAmount" | "work">,
  flow: Flow,
): PathShare[] | undefined {
  const paths = flow.paths.map((path) => ({ ...path }));
  const inputs = flow.inputs.slice();
  let rest = inAmount - flow.inAmount;
  for (let changed = 0; changed < MOST_CHANGED && rest > inAmount * CRUMB; changed++) {
    const change = widestChange(edges, { closed, work }, inputs, paths, rest);
    if (change === undefined) return undefined;
    const { path, entry, less, more } = change;
    path.sent -= less;
    inputs[path.legs[0]]! -= less;
    inputs[entry]! += more;
    paths.push({ legs: [entry, path.legs[1], path.legs[2]], sent: more });
    rest -= more - less;
  }
  return rest > inAmount * CRUMB ? undefined : mergedOf(paths);
}

/** The change of one path that takes most of the rest. */
function widestChange(
  edges: readonly FlowEdge[],
  { closed, work }: Pick<FlowSearch, "closed" | "work">,
  inputs: Float64Array,
  paths: readonly PathShare[],
  rest: number,
): Change | undefined {
  let widest: Change | undefined;
  for (const path of paths) {
    const own = edges[path.legs[0]]!;
    if (own.to === OUTPUT || path.sent <= 0) continue;
    for (const [entry, { from, to }] of edges.entries()) {
      if (from !== INPUT || to !== own.to || entry === path.legs[0] || closed[entry] !== 0) continue;
      work?.reads(READS_OF_A_CHANGE);
      const change = changeOf(edges, inputs, path, entry, { rest, work });
      if (change === undefined) continue;
      if (widest === undefined || change.more - change.less > widest.more - widest.less) widest = change;
    }
  }
  return widest;
}

/** As much of a path over another entry as uses no more than the rest; undefined if that entry needs less input for the same amount. */
function changeOf(
  edges: readonly FlowEdge[],
  inputs: Float64Array,
  path: PathShare,
  entry: number,
  { rest, work }: { readonly rest: number } & Pick<FlowSearch, "work">,
): Change | undefined {
  const [own, other] = [edges[path.legs[0]]!.curve, edges[entry]!.curve];
  const [ownInput, otherInput] = [inputs[path.legs[0]]!, inputs[entry]!];
  const [ownOut, otherOut] = [own.out(ownInput), other.out(otherInput)];
  const whole = other.inputFor(otherOut + ownOut - own.out(ownInput - path.sent)) - otherInput;
  const most = Math.min(whole, other.most - otherInput, rest + path.sent);
  if (!(most > 0)) return undefined;
  // Not below zero: for a full entry's output, rounding may compute more input than the entry holds.
  const lessFor = (more: number) =>
    Math.max(0, ownInput - own.inputFor(ownOut + otherOut - other.out(otherInput + more)));
  const isTooMuch = (more: number) => more - lessFor(more) > rest;
  // Search by the input of the worse entry: at the better one, a few units may change the result completely.
  const halves = isTooMuch(most);
  if (halves) work?.reads(READS_OF_A_STEP * HALVINGS);
  const more = halves ? halve(most, (part) => !isTooMuch(part)) : most;
  const less = lessFor(more);
  return less > 0 && more > less ? { path, entry, less, more } : undefined;
}

/** The largest amount up to `most` that is still too little, by halving. */
function halve(most: number, isTooLittle: (amount: number) => boolean): number {
  let [low, high] = [0, most];
  for (let step = 0; step < HALVINGS; step++) {
    const middle = (low + high) / 2;
    if (isTooLittle(middle)) low = middle;
    else high = middle;
  }
  return low;
}

/** Merges paths over the same markets and drops those that carry nothing. */
function mergedOf(paths: readonly PathShare[]): PathShare[] {
  const merged: PathShare[] = [];
  for (const { legs, sent } of paths) {
    if (sent <= 0) continue;
    const same = merged.find((other) => other.legs.every((leg, at) => leg === legs[at]));
    if (same === undefined) merged.push({ legs, sent });
    else same.sent += sent;
  }
  return merged;
}
