import { expect, test } from "vitest";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { createSearch, SEARCH_LIMIT } from "../../../src/client/verify/venues/ladder.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { planOf, wireOf } from "./mutations.ts";
import { buildSample, expectationOf } from "./sample-builds.ts";

const VENUES = ["raydium_clmm", "orca_whirlpool", "meteora_dlmm"];

async function honestBuild(random: Random, venue: string): Promise<HonestBuild> {
  for (;;) {
    const build = await buildSample(random, venue);
    if (build !== undefined && build.form !== "version 1" && build.lookupTables.size === 0) return build;
  }
}

/** Each transaction that names a stranger's account in place of one array of ticks or bins, or of all of them. */
function withForeignArrays(random: Random, wire: Uint8Array): Uint8Array[] {
  const plan = planOf(wire);
  const at = plan.instructions.findIndex((one) => findSwapTable(one as never) !== undefined);
  const swap = plan.instructions[at]!;
  const table = findSwapTable(swap as never)!;
  const isArray = (place: number) =>
    table.repeated === undefined
      ? table.accounts[place]?.rule.kind === "ladder"
      : place >= table.accounts.length + table.tails[0]!.length;
  const arrays = swap.accounts.flatMap((_, place) => (isArray(place) ? [place] : []));
  const replaced = (places: readonly number[]) => {
    const accounts = swap.accounts.map((one, place) =>
      places.includes(place) ? { ...one, address: Address.from(random.bytes(32)) } : one,
    );
    return wireOf({ ...plan, instructions: plan.instructions.with(at, { ...swap, accounts }) });
  };
  return [...arrays.map((place) => replaced([place])), replaced(arrays)];
}

test("a foreign array of ticks or bins is refused after a bounded number of derivations", async () => {
  const random = createRandom(1318);
  for (const venue of VENUES) {
    const build = await honestBuild(random, venue);
    const expected = expectationOf(build);
    const honest = createSearch();
    expect(findProblems(readTransaction(build.wire), expected, honest)).toEqual([]);
    expect(honest.left, venue).toBeGreaterThan(SEARCH_LIMIT / 4);
    const hostile = withForeignArrays(random, build.wire);
    expect(hostile.length, venue).toBeGreaterThan(1);
    for (const wire of hostile) {
      const search = createSearch();
      const problems = findProblems(readTransaction(wire), expected, search);
      expect(problems.map(({ reason }) => reason).join("; "), venue).toContain("is not derived from this market");
      expect(search.left, venue).toBe(0);
    }
  }
});
