import { afterAll, describe, expect, it, test } from "vitest";
import { createRandom } from "../../../src/primitives/random.ts";
import { dammV1, dammV2, dlmm } from "./meteora.ts";
import { whirlpool } from "./orca.ts";
import { curve, swap } from "./pump.ts";
import { ammV4, clmm, cpmm } from "./raydium.ts";
import { searchUnits, type Use } from "./search.ts";

/**
 * A guided search on the real programs for trades that use more compute units than they are bounded by. `meteora_dbc` has one of its own:
 * `test/slow/venues/meteora-dbc-curves.test.ts`.
 */
const SEED = Number(process.env.SEED ?? Math.floor(Date.now() / 1_000) % 1_000_000);
/** Trades of each kind on each build. */
const STEPS = Number(process.env.STEPS ?? 40);
const NAMED = process.env.VENUE?.split(",");

const searches = [ammV4, cpmm, clmm, whirlpool, dlmm, dammV1, dammV2, curve, swap]
  .filter(({ name }) => NAMED?.includes(name) ?? true)
  .flatMap((searched) => searched.builds.map((build) => ({ searched, build, name: searched.name, path: build.path })));
const KINDS = [
  { mode: "exactIn", from: 0 },
  { mode: "exactIn", from: 1 },
  { mode: "exactOut", from: 0 },
  { mode: "exactOut", from: 1 },
] as const;

const worst = new Map<string, Use>();

test.skipIf(searches.length > 0)("no program of a venue is in .venues: nothing is searched", () => undefined);

describe.each(searches)("$name on $path", ({ searched, build, name }) => {
  it.each(KINDS)(`stays within its units: $mode of mint $from, seed ${SEED}`, async (kind) => {
    const use = await searchUnits({ searched, build, kind, random: createRandom(SEED), steps: STEPS });
    if (use === undefined) return;
    const before = worst.get(name);
    if (before === undefined || use.used * before.bound > before.used * use.bound)
      worst.set(name, { ...use, trade: `${use.trade}, ${build.path}` });
    expect(use.used, use.trade).toBeLessThanOrEqual(use.bound);
  });
});

afterAll(() => {
  console.log(`seed ${SEED}, ${STEPS} steps; used / bound at most:`);
  for (const [name, { used, bound, trade }] of worst)
    console.log(`${name} ${(used / bound).toFixed(3)}: ${used} of ${bound}, ${trade}`);
});
