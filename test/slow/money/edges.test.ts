import { afterAll, expect, test } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { PRESENT } from "./drawn-markets.ts";
import { drawWorld } from "./drawn-world.ts";
import { tradeAtEdges } from "./market-edges.ts";

/** The first seed: another one each time, unless it is given. */
const SEED = Number(process.env.SEED ?? Math.floor(Date.now() / 1_000) % 1_000_000);
const WORLDS = Number(process.env.WORLDS ?? 100);

const counts = new Map<string, { offered: number; refused: number }>();
const seeds = PRESENT.length === 0 ? [] : Array.from({ length: WORLDS }, (_, index) => SEED + index);

test.skipIf(PRESENT.length > 0)("no program of a venue is in .venues: nothing is traded", () => undefined);

/** At each amount where quotes of a drawn market begin or cease. A trade that the program makes in part is refused, too. */
test.each(seeds)("seed %i: what is offered is made, and what is refused is not", (seed) => {
  const world = drawWorld(seed);
  const faults = (world?.places ?? []).flatMap((place) => {
    const report = tradeAtEdges(world!, place, createRandom(seed));
    const before = counts.get(place.venue) ?? { offered: 0, refused: 0 };
    counts.set(place.venue, { offered: before.offered + report.offered, refused: before.refused + report.refused });
    return report.faults;
  });
  expect(faults).toEqual([]);
});

afterAll(() => {
  for (const [venue, { offered, refused }] of counts) console.log(`${venue}: ${offered} offered, ${refused} refused`);
});
