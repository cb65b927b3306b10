import { type FlowEdge, OUTPUT, type PathShare } from "./flow.ts";

/** What a market may take above its limit, for rounding. Fraction. */
const MOST_OVER = 1e-6;

/**
 * Computes the flow through each edge from the inputs of the paths: an edge's output belongs to its paths in proportion to their inputs.
 *
 * @param inputs what goes into each edge, to be filled in; as `outputs`
 * @returns the output of all paths; undefined if a market would exceed its limit: it then counts as giving its maximum
 */
export function spreadPaths(
  edges: readonly FlowEdge[],
  paths: readonly PathShare[],
  inputs: Float64Array,
  outputs: Float64Array,
): number | undefined {
  inputs.fill(0);
  outputs.fill(0);
  for (const { legs, sent } of paths) inputs[legs[0]]! += sent;
  for (const { legs } of paths) fill(edges, legs[0], inputs, outputs);
  // Markets between hubs first: their output joins what reaches the same hub from the input.
  for (const { legs, sent } of paths)
    if (legs[2] >= 0 && sent > 0) inputs[legs[1]]! += (outputs[legs[0]]! * sent) / inputs[legs[0]]!;
  for (const { legs } of paths) if (legs[2] >= 0) fill(edges, legs[1], inputs, outputs);
  for (const { legs, sent } of paths) {
    if (legs[1] < 0 || sent <= 0) continue;
    const arrived = (outputs[legs[0]]! * sent) / inputs[legs[0]]!;
    if (legs[2] < 0) inputs[legs[1]]! += arrived;
    else inputs[legs[2]]! += (outputs[legs[1]]! * arrived) / inputs[legs[1]]!;
  }
  let out = 0;
  let isOver = false;
  for (let index = 0; index < inputs.length; index++) {
    const input = inputs[index]!;
    if (input <= 0) continue;
    const { curve, to } = edges[index]!;
    if (input > curve.most * (1 + MOST_OVER)) isOver = true;
    if (to !== OUTPUT) continue;
    fill(edges, index, inputs, outputs);
    out += outputs[index]!;
  }
  return isOver ? undefined : out;
}

function fill(edges: readonly FlowEdge[], index: number, inputs: Float64Array, outputs: Float64Array): void {
  outputs[index] = edges[index]!.curve.out(inputs[index]!);
}
