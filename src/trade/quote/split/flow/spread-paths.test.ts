import { expect, test } from "vitest";
import type { MarketCurve } from "../curves/market-curve.ts";
import { type FlowEdge, INPUT, OUTPUT } from "./flow.ts";
import { spreadPaths } from "./spread-paths.ts";

/** A market that gives half of what goes in, without a limit. */
const edge = (from: number, to: number): FlowEdge => ({
  from,
  to,
  curve: { most: Number.POSITIVE_INFINITY, out: (input: number) => input / 2 } as MarketCurve,
});
const [HUB, FAR_HUB] = [2, 3];

test.each([
  ["one hub", [edge(INPUT, OUTPUT), edge(INPUT, HUB), edge(HUB, OUTPUT)], [1, 2, -1]],
  ["two hubs", [edge(INPUT, OUTPUT), edge(INPUT, HUB), edge(HUB, FAR_HUB), edge(FAR_HUB, OUTPUT)], [1, 2, 3]],
] as const)("a path over %s that carries nothing leaves the others as they are", (_, edges, legs) => {
  const [inputs, outputs] = [new Float64Array(edges.length), new Float64Array(edges.length)];
  const paths = [
    { legs: [0, -1, -1] as const, sent: 100 },
    { legs, sent: 0 },
  ];
  expect(spreadPaths(edges, paths, inputs, outputs)).toBe(50);
  expect([...inputs]).toEqual(edges.map((_, index) => (index === 0 ? 100 : 0)));
});
