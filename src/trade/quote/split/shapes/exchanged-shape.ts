import type { Steps } from "../../long-searches.ts";
import { betterOf, coarseFlow, type Field, type Shape, shapeOf } from "./split-shape.ts";

/** Flows compared at most. */
const MOST_FLOWS = 128;
/** How often a market is exchanged at most. */
const MOST_EXCHANGED = 2;
/** Shapes of this many more paths than allowed are begun with at most, if no narrower one takes the trade. */
const MOST_MORE_PATHS = 2;

/** What exchanges begin with. */
interface Exchanges {
  readonly field: Field;
  /** Edges that no shape may use. */
  readonly closed: Uint8Array;
  readonly maxPaths: number;
  /** The best shape so far; undefined if none takes the trade. */
  readonly start: Shape | undefined;
  /** Shapes of any number of paths, the widest first. */
  readonly shapes: readonly Shape[];
}

/**
 * The best shape of two up to `maxPaths` paths that exchanges of markets lead to: one open market for a closed one, while that gives more.
 * Where no shape takes the trade, two markets of one that is too wide are closed, or exchanged for one. Near the limits of markets the
 * narrowing may have closed one that the last markets cannot do without.
 */
export function* exchangedShape(exchanges: Exchanges): Steps<Shape | undefined> {
  const { maxPaths, start, shapes } = exchanges;
  const attempts = new Attempts(exchanges);
  let best = start;
  const wide = shapes.filter(({ paths }) => paths > maxPaths && paths <= maxPaths + MOST_MORE_PATHS);
  for (let from = wide.pop(); from !== undefined && best === undefined; from = wide.pop())
    best = yield* attempts.best(from, pairsOf(from.closed), true);
  for (let exchanged = 0; best !== undefined && exchanged < MOST_EXCHANGED; exchanged++) {
    const other = yield* attempts.best(
      best,
      openOf(best.closed).map((index) => [index]),
      false,
    );
    if (betterOf(best, other) === best) break;
    best = other;
  }
  return best;
}

/** The flows that are compared, each once. */
class Attempts {
  readonly #exchanges: Exchanges;
  readonly #tried = new Set<string>();

  constructor(exchanges: Exchanges) {
    this.#exchanges = exchanges;
  }

  /**
   * The best shape with some markets of another one closed and another market open.
   *
   * @param closes what is closed together
   * @param alone true if nothing need be opened for it
   */
  *best(from: Shape, closes: readonly (readonly number[])[], alone: boolean): Steps<Shape | undefined> {
    const { closed } = this.#exchanges;
    const others = openOf(closed).filter((index) => from.closed[index] !== 0);
    let best: Shape | undefined;
    for (const closing of closes) {
      for (const opening of alone ? [undefined, ...others] : others)
        best = betterOf(best, yield* this.#shape(from, closing, opening));
    }
    return best;
  }

  *#shape(from: Shape, closing: readonly number[], opening: number | undefined): Steps<Shape | undefined> {
    const { field, maxPaths } = this.#exchanges;
    const closed = from.closed.slice();
    for (const index of closing) closed[index] = 1;
    if (opening !== undefined) closed[opening] = 0;
    const key = closed.join("");
    if (this.#tried.has(key) || this.#tried.size >= MOST_FLOWS) return undefined;
    this.#tried.add(key);
    yield* field.terms.work.pause();
    const flow = coarseFlow(field, closed, from.flow) ?? coarseFlow(field, closed);
    if (flow === undefined) return undefined;
    const shape = shapeOf(field, flow, closed);
    return shape.paths > 1 && shape.paths <= maxPaths ? shape : undefined;
  }
}

const openOf = (closed: Uint8Array): number[] => [...closed.keys()].filter((index) => closed[index] === 0);

function pairsOf(closed: Uint8Array): (readonly [number, number])[] {
  const open = openOf(closed);
  return open.flatMap((first, at) => open.slice(at + 1).map((second) => [first, second] as const));
}
