import { expect, it } from "vitest";
import { connectionsWithin, mostOpenFiles } from "./open-files.ts";

it.each([
  [undefined, 5_000, 2_500, 5_000, 2_500],
  [1_048_576, 5_000, 2_500, 5_000, 2_500],
  [5_512, 5_000, 2_500, 5_000, 2_500],
  [4_096, 5_000, 2_500, 3_584, 1_792],
  [1_024, 5_000, 2_500, 512, 256],
  [256, 5_000, 0, 128, 0],
  [1_024, 100, 100, 100, 100],
])("with %s files, %i connections and %i of one address become %i and %i", (files, most, each, within, eachWithin) => {
  const settings = { maxConnections: most, maxConnectionsPerAddress: each };
  expect(connectionsWithin(files, settings)).toEqual({
    maxConnections: within,
    maxConnectionsPerAddress: eachWithin,
  });
});

it("knows how many files this process may open, where the system tells", () => {
  expect(mostOpenFiles() ?? 1_024).toBeGreaterThan(0);
});
