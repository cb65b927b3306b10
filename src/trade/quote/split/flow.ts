import type { MarketCurve } from "./market-curve.ts";

/** The mints that a trade may pass through, by number: 0 is the input, 1 the output, hubs follow. */
export interface FlowNetwork {
  readonly mints: number;
  readonly edges: readonly FlowEdge[];
}

/** A market between two mints of the network. */
export interface FlowEdge {
  readonly from: number;
  readonly to: number;
  readonly curve: MarketCurve;
}

/** What passes through each edge of a network, in order of its edges. Base units, as doubles. */
export interface Flow {
  readonly inputs: Float64Array;
  readonly outputs: Float64Array;
  /** The part of the trade's input that each edge carries. */
  readonly carried: Float64Array;
  readonly inAmount: number;
  readonly outAmount: number;
}

/** How a flow is searched. */
export interface FlowSearch {
  readonly mode: "exactIn" | "exactOut";
  /** About what goes in. */
  readonly inAmount: number;
  /** exactOut: what must come out. */
  readonly outAmount: number;
  /** What the first parts are of the input; 1: one part. Later ones are smaller. */
  readonly parts: number;
  readonly maxLegs: number;
  /** Edges that must stay unused. */
  readonly closed: Uint8Array;
}

const INPUT = 0;
const OUTPUT = 1;
/**
 * How the input is cut: the share of it that a phase sends, and its parts, as a part of the first ones. Large parts place most
 * of it, small ones even it out.
 */
const PHASES = [
  { share: 1 / 2, size: 1 },
  { share: 1 / 4, size: 1 / 2 },
  { share: 1 / 8, size: 1 / 4 },
  { share: 1 / 8, size: 1 / 8 },
] as const;
/** No edges. */
const NONE: number[] = [];
const ONE_PART = [{ share: 1, size: 1 }] as const;
/** An exact output may need more input than estimated, by this factor at most. */
const MOST_INPUTS = 4;

/**
 * Fills the network part by part: each goes along the path that gives most for it now. Between two hubs, trades run in one
 * direction, and no hub is both the middle of one such trade and the end of another: no path is longer than three markets.
 */
export function fillNetwork(network: FlowNetwork, search: FlowSearch): Flow | undefined {
  const filling = new Filling(network, search);
  const { mode, inAmount, outAmount, parts } = search;
  for (const phase of parts === 1 ? ONE_PART : PHASES) {
    const part = (inAmount / parts) * phase.size;
    for (let left = phase.share * (parts / phase.size); left > 0; left--) {
      const isFull = filling.push(part) === undefined;
      if (mode === "exactOut" && (isFull || filling.outAmount >= outAmount)) return filling.flow(outAmount);
      if (isFull) return undefined;
    }
  }
  if (mode === "exactIn") return filling.flow(0);
  const part = (inAmount / parts) * PHASES.at(-1)!.size;
  for (let more = (MOST_INPUTS - 1) * (inAmount / part); more > 0; more--)
    if (filling.push(part) === undefined || filling.outAmount >= outAmount) break;
  return filling.flow(outAmount);
}

/** Parallel paths of a flow: edges in use, less the mints between. */
export function pathsOf({ mints, edges }: FlowNetwork, { carried }: Flow): number {
  let paths = 0;
  const passed = new Uint8Array(mints);
  for (let index = 0; index < edges.length; index++) {
    if (carried[index]! <= 0) continue;
    const { to } = edges[index]!;
    paths++;
    if (to !== OUTPUT) passed[to] = 1;
  }
  return passed.reduce((rest, isPassed) => rest - isPassed, paths);
}

class Filling {
  readonly #edges: readonly FlowEdge[];
  readonly #mints: number;
  readonly #maxLegs: number;
  /** Open edges by from × mints + to. */
  readonly #between: readonly (readonly number[])[];
  readonly #inputs: Float64Array;
  readonly #outputs: Float64Array;
  readonly #carried: Float64Array;
  /** Hubs that are the start, or the end, of a trade between hubs. */
  readonly #starts: Uint8Array;
  readonly #ends: Uint8Array;
  #inAmount = 0;
  outAmount = 0;
  /** What one more amount gives on each edge, and that amount; -1: to be found again. */
  readonly #gains: Float64Array;
  readonly #asked: Float64Array;
  /** The best edge found by the last call of `#best`. */
  #edge = -1;
  /** The path of the current part. */
  readonly #path = new Int32Array(3);

  constructor({ mints, edges }: FlowNetwork, { closed, maxLegs }: FlowSearch) {
    this.#edges = edges;
    this.#mints = mints;
    this.#maxLegs = maxLegs;
    const between: number[][] = new Array(mints * mints).fill(NONE);
    for (let index = 0; index < edges.length; index++) {
      if (closed[index] !== 0) continue;
      const { from, to } = edges[index]!;
      const place = from * mints + to;
      if (between[place] === NONE) between[place] = [index];
      else between[place]!.push(index);
    }
    this.#between = between;
    this.#inputs = new Float64Array(edges.length);
    this.#outputs = new Float64Array(edges.length);
    this.#carried = new Float64Array(edges.length);
    this.#gains = new Float64Array(edges.length);
    this.#asked = new Float64Array(edges.length).fill(-1);
    this.#starts = new Uint8Array(mints);
    this.#ends = new Uint8Array(mints);
  }

  /** Sends one part along the best path. Returns what comes out; undefined if no path takes any more. */
  push(part: number): number | undefined {
    let most = this.#best(INPUT, OUTPUT, part);
    this.#keepPath(this.#edge, -1, -1);
    for (let hub = 2; hub < this.#mints && this.#maxLegs > 1; hub++) {
      const reached = this.#best(INPUT, hub, part);
      if (reached <= 0) continue;
      const first = this.#edge;
      const gained = this.#best(hub, OUTPUT, reached);
      if (gained > most) {
        most = gained;
        this.#keepPath(first, this.#edge, -1);
      }
      if (this.#maxLegs < 3 || this.#ends[hub] === 1) continue;
      for (let next = 2; next < this.#mints; next++) {
        if (next === hub || this.#starts[next] === 1) continue;
        const crossed = this.#best(hub, next, reached);
        if (crossed <= 0) continue;
        const second = this.#edge;
        const last = this.#best(next, OUTPUT, crossed);
        if (last <= most) continue;
        most = last;
        this.#keepPath(first, second, this.#edge);
      }
    }
    if (most <= 0) return undefined;
    this.#send(part);
    this.outAmount += most;
    return most;
  }

  #keepPath(first: number, second: number, third: number): void {
    this.#path[0] = first;
    this.#path[1] = second;
    this.#path[2] = third;
  }

  #send(part: number): void {
    let amount = part;
    this.#inAmount += part;
    for (let leg = 0; leg < 3; leg++) {
      const index = this.#path[leg]!;
      if (index < 0) return;
      const { curve, from, to } = this.#edges[index]!;
      if (from !== INPUT && to !== OUTPUT) {
        this.#starts[from] = 1;
        this.#ends[to] = 1;
      }
      this.#inputs[index]! += amount;
      this.#carried[index]! += part;
      const after = curve.out(this.#inputs[index]!);
      amount = after - this.#outputs[index]!;
      this.#outputs[index] = after;
      this.#asked[index] = -1;
    }
  }

  /** The most that one more `amount` gives between two mints, and the edge that gives it. */
  #best(from: number, to: number, amount: number): number {
    const open = this.#between[from * this.#mints + to]!;
    let most = 0;
    this.#edge = -1;
    for (let place = 0; place < open.length; place++) {
      const index = open[place]!;
      if (this.#asked[index] !== amount) this.#ask(index, amount);
      const gain = this.#gains[index]!;
      if (gain <= most) continue;
      most = gain;
      this.#edge = index;
    }
    return most;
  }

  /** Finds what one more `amount` gives on an edge: 0 if it takes no more. */
  #ask(index: number, amount: number): void {
    const { curve } = this.#edges[index]!;
    const total = this.#inputs[index]! + amount;
    this.#asked[index] = amount;
    this.#gains[index] = total > curve.most * (1 + 1e-9) ? 0 : curve.out(total) - this.#outputs[index]!;
  }

  /** What was filled. @param outAmount what must come out of an exact output; 0 if nothing must */
  flow(outAmount: number): Flow | undefined {
    if (this.outAmount < outAmount || this.outAmount === 0) return undefined;
    return {
      inputs: this.#inputs,
      outputs: this.#outputs,
      carried: this.#carried,
      inAmount: this.#inAmount,
      outAmount: this.outAmount,
    };
  }
}
