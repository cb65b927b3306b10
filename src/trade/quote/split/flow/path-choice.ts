import { type FlowNetwork, type FlowSearch, INPUT, OUTPUT, type PathShare } from "./flow.ts";

/** No edges. */
const NONE: number[] = [];

/** The open edges of a network with the rate of each, and the best path by these rates. */
export class PathChoice {
  readonly mints: number;
  /** Open edges by from × mints + to. */
  readonly open: readonly (readonly number[])[];
  /** What each edge gives for one unit of the next part; 0 if it takes no more. */
  readonly rates: Float64Array;
  /** The best rate between two mints, and the edge that has it, by from × mints + to. */
  readonly best: Float64Array;
  readonly #bestEdge: Int32Array;
  readonly #network: FlowNetwork;
  readonly #closed: Uint8Array;
  readonly #maxLegs: number;
  /** Hubs that may be the start, or the end, of a trade between hubs. */
  readonly #mayStart: Uint8Array;
  readonly #mayEnd: Uint8Array;
  readonly #path: [number, number, number] = [-1, -1, -1];

  constructor(network: FlowNetwork, { closed, maxLegs }: FlowSearch) {
    const { mints, edges } = network;
    this.mints = mints;
    this.#network = network;
    this.#closed = closed;
    this.#maxLegs = maxLegs;
    const open: number[][] = new Array(mints * mints).fill(NONE);
    for (let index = 0; index < edges.length; index++) {
      if (closed[index] !== 0) continue;
      const { from, to } = edges[index]!;
      const place = from * mints + to;
      if (open[place] === NONE) open[place] = [index];
      else open[place]!.push(index);
    }
    this.open = open;
    this.rates = new Float64Array(edges.length);
    this.best = new Float64Array(mints * mints);
    this.#bestEdge = new Int32Array(mints * mints);
    this.#mayStart = new Uint8Array(mints).fill(1);
    this.#mayEnd = new Uint8Array(mints).fill(1);
  }

  /** True if every market of a path is open. */
  allows(legs: PathShare["legs"]): boolean {
    return legs.every((index) => index < 0 || this.#closed[index] === 0);
  }

  /** Marks a path as in use: paths that would run against it are no longer chosen. */
  take(legs: PathShare["legs"]): void {
    if (legs[2] < 0) return;
    const { from, to } = this.#network.edges[legs[1]]!;
    this.#mayEnd[from] = 0;
    this.#mayStart[to] = 0;
  }

  /** Sets the rate of one edge. */
  rate(index: number, from: number, to: number, rate: number): void {
    this.rates[index] = rate;
    this.findBest(from * this.mints + to);
  }

  findBest(place: number): void {
    const open = this.open[place]!;
    let most = 0;
    let edge = -1;
    for (let at = 0; at < open.length; at++) {
      const rate = this.rates[open[at]!]!;
      if (rate <= most) continue;
      most = rate;
      edge = open[at]!;
    }
    this.best[place] = most;
    this.#bestEdge[place] = edge;
  }

  /** What a path gives for one unit, from one of its markets on. */
  rateOf(legs: PathShare["legs"], first = 0): number {
    let rate = 1;
    for (let at = first; at < legs.length; at++) if (legs[at]! >= 0) rate *= this.rates[legs[at]!]!;
    return rate;
  }

  /** The path that begins as this one, up to a place, and has the best rate after it; undefined if none takes any more. */
  bestOnward(legs: PathShare["legs"], at: number): PathShare["legs"] | undefined {
    const { mints, best } = this;
    const mint = this.#network.edges[legs[at]!]!.to;
    let most = best[mint * mints + OUTPUT]!;
    let next = OUTPUT;
    const isLong = at === 0 && this.#maxLegs > 2 && this.#mayStart[mint] !== 0;
    for (let hub = 2; hub < mints && isLong; hub++) {
      const crossed = best[mint * mints + hub]! * best[hub * mints + OUTPUT]!;
      if (hub === mint || this.#mayEnd[hub] === 0 || crossed <= most) continue;
      most = crossed;
      next = hub;
    }
    if (most <= 0) return undefined;
    const first = this.#bestEdge[mint * mints + next]!;
    if (at > 0) return [legs[0], legs[1], first];
    return [legs[0], first, next === OUTPUT ? -1 : this.#bestEdge[next * mints + OUTPUT]!];
  }

  /** The path with the best rate, until the next call; undefined if none takes any more. */
  bestPath(): PathShare["legs"] | undefined {
    const { mints, best } = this;
    const isLong = this.#maxLegs > 2;
    let most = best[OUTPUT]!;
    let first = OUTPUT;
    let second = -1;
    for (let hub = 2; hub < mints && this.#maxLegs > 1; hub++) {
      const reached = best[hub]!;
      if (reached <= 0) continue;
      const gained = reached * best[hub * mints + OUTPUT]!;
      if (gained > most) {
        most = gained;
        first = hub;
        second = -1;
      }
      if (!isLong || this.#mayStart[hub] === 0) continue;
      for (let next = 2; next < mints; next++) {
        if (next === hub || this.#mayEnd[next] === 0) continue;
        const crossed = reached * best[hub * mints + next]! * best[next * mints + OUTPUT]!;
        if (crossed <= most) continue;
        most = crossed;
        first = hub;
        second = next;
      }
    }
    if (most <= 0) return undefined;
    const edge = this.#bestEdge;
    this.#path[0] = edge[first]!;
    this.#path[1] = first === OUTPUT ? -1 : edge[first * mints + (second < 0 ? OUTPUT : second)]!;
    this.#path[2] = second < 0 ? -1 : edge[second * mints + OUTPUT]!;
    return this.#path;
  }

  /** What one more base unit of each mint would give of the output. */
  values(): Float64Array {
    const { mints, best } = this;
    const values = new Float64Array(mints);
    values[OUTPUT] = 1;
    for (let hub = 2; hub < mints; hub++) values[hub] = best[hub * mints + OUTPUT]!;
    for (let hub = 2; hub < mints && this.#maxLegs > 2; hub++) {
      if (this.#mayStart[hub] === 0) continue;
      for (let to = 2; to < mints; to++) {
        if (to === hub || this.#mayEnd[to] === 0) continue;
        const value = best[hub * mints + to]! * best[to * mints + OUTPUT]!;
        if (value > values[hub]!) values[hub] = value;
      }
    }
    values[INPUT] = best[OUTPUT]!;
    for (let hub = 2; hub < mints; hub++) {
      const value = best[hub]! * values[hub]!;
      if (value > values[INPUT]!) values[INPUT] = value;
    }
    return values;
  }
}
