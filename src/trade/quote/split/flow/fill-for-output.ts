import type { CurveNetwork } from "../network.ts";
import { fillNetwork } from "./fill-network.ts";
import { type Flow, type FlowSearch, INPUT } from "./flow.ts";

/** Tolerated difference between the output and the required one. Fraction. */
const MOST_MISSED = 1e-3;
/** Most fillings, each with the input that the one before shows to be needed. */
const MOST_FILLED = 4;

/**
 * Fills a network with the input that yields about the given output.
 *
 * @param search its `inAmount` is what is filled first
 * @param outAmount base units
 * @param start a flow to begin with
 * @returns undefined if the network does not take that much input
 */
export function fillForOutput(
  network: CurveNetwork,
  search: FlowSearch,
  outAmount: number,
  start?: Flow,
): Flow | undefined {
  let flow: Flow | undefined;
  let { inAmount } = search;
  for (let filled = 0; filled < MOST_FILLED; filled++) {
    const found = fillNetwork(network, { ...search, inAmount }, flow ?? start);
    if (found === undefined) {
      // More than the network takes: halve the distance to what it takes, or to the least that may be needed.
      inAmount = (inAmount + (flow?.inAmount ?? outAmount / network.onwardRates[INPUT]!)) / 2;
      continue;
    }
    flow = found;
    if (Math.abs(flow.outAmount / outAmount - 1) < MOST_MISSED) break;
    inAmount = inputFor(network, flow, outAmount);
  }
  return flow;
}

/** Estimates the input for an output: input per output is about a straight line from the best price to that of a flow. */
function inputFor({ onwardRates }: CurveNetwork, flow: Flow, outAmount: number): number {
  const least = 1 / onwardRates[INPUT]!;
  const slope = (flow.inAmount / flow.outAmount - least) / flow.outAmount;
  return outAmount * (least + slope * outAmount);
}
