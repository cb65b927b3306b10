import type { MarketCurve } from "../curves/market-curve.ts";
import type { StepWork } from "../steps/step-work.ts";

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

/** A path's share of the input, and its edges: one to three, then -1. */
export interface PathShare {
  readonly legs: readonly [number, number, number];
  sent: number;
}

/** What passes through each edge of a network, in order of its edges. Base units, as doubles. */
export interface Flow {
  readonly paths: readonly PathShare[];
  readonly inputs: Float64Array;
  readonly outputs: Float64Array;
  /** Output for one base unit of each mint, as part of a coarse part. */
  readonly values: () => Float64Array;
  readonly inAmount: number;
  readonly outAmount: number;
}

/** How a flow is searched. */
export interface FlowSearch {
  /** What goes in. */
  readonly inAmount: number;
  /** Size of the parts placed first, and of the smallest ones moved afterwards, as parts of the input. */
  readonly parts: number;
  readonly leastParts: number;
  readonly maxLegs: number;
  /** True if parts also move between the ways onward from a full market: too long for comparing many flows. */
  readonly isFine?: boolean;
  /** The output required of an exact output: once it is reached, the rest of the input need not be placed. */
  readonly enough?: number | undefined;
  /** Edges that must stay unused. */
  readonly closed: Uint8Array;
  /** Counts the work, if anybody pauses by it. */
  readonly work?: StepWork | undefined;
}

/** Numbers of the trade's own mints in a network. */
export const INPUT = 0;
export const OUTPUT = 1;
