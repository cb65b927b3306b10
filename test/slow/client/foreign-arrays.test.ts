import { expect, test } from "vitest";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import type { TradeExpectation } from "../../../src/client/verify/trade-expectation.ts";
import { createSearch, SEARCH_LIMIT } from "../../../src/client/verify/venues/ladder.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { binArrayOf } from "../../../src/venues/meteora-dlmm/layout.ts";
import { whirlpoolTickArrayOf } from "../../../src/venues/orca-whirlpool/layout.ts";
import { clmmTickArrayOf } from "../../../src/venues/raydium-clmm/layout.ts";
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

/** The transaction's plan, its swap, and the places of the arrays in that. */
function arraysOf({ wire, answer }: HonestBuild) {
  const plan = planOf(wire);
  const at = plan.instructions.findIndex((one) => findSwapTable(one as never) !== undefined);
  const swap = plan.instructions[at]!;
  const table = findSwapTable(swap as never)!;
  const count = answer.route[0]!.arrayNumbers!.length;
  const isArray = (place: number) =>
    table.repeated === undefined
      ? table.accounts[place]?.rule.kind === "ladder"
      : place >= swap.accounts.length - count;
  const arrays = swap.accounts.flatMap((_, place) => (isArray(place) ? [place] : []));
  return { plan, at, swap, arrays };
}

/** The transaction with other addresses for its arrays, by place. */
function withArrays(build: HonestBuild, replaced: ReadonlyMap<number, Address>): Uint8Array {
  const { plan, at, swap } = arraysOf(build);
  const accounts = swap.accounts.map((one, place) => ({ ...one, address: replaced.get(place) ?? one.address }));
  return wireOf({ ...plan, instructions: plan.instructions.with(at, { ...swap, accounts }) });
}

/** Each transaction that names a stranger's account in place of one array of ticks or bins, or of all of them. */
function withForeignArrays(random: Random, build: HonestBuild): Uint8Array[] {
  const { arrays } = arraysOf(build);
  const replaced = (places: readonly number[]) =>
    withArrays(build, new Map(places.map((place) => [place, Address.from(random.bytes(32))])));
  return [...arrays.map((place) => replaced([place])), replaced(arrays)];
}

const FAR = {
  raydium_clmm: { step: 60, derive: clmmTickArrayOf },
  orca_whirlpool: { step: 88, derive: whirlpoolTickArrayOf },
  meteora_dlmm: { step: 1, derive: binArrayOf },
} as const;

const withNumbers = (expected: TradeExpectation, arrayNumbers: readonly number[] | undefined): TradeExpectation => ({
  ...expected,
  legs: expected.legs.map((leg) => ({ ...leg, arrayNumbers })),
});

test("an array far from the price is accepted by the number the service gives, and by no other", async () => {
  const random = createRandom(2213);
  for (const [venue, { step, derive }] of Object.entries(FAR)) {
    const build = await honestBuild(random, venue);
    const expected = expectationOf(build);
    const [{ market, arrayNumbers }] = expected.legs as [TradeExpectation["legs"][number]];
    const { arrays, swap } = arraysOf(build);
    const named = arrayNumbers!.map((number) => derive(market, number).address);
    expect(
      arrays.map((place) => swap.accounts[place]!.address),
      venue,
    ).toEqual(named);
    for (const far of [-1_733, 1_733]) {
      const numbers = [...arrayNumbers!.slice(0, -1), arrayNumbers!.at(-1)! + far * step];
      const wire = withArrays(build, new Map([[arrays.at(-1)!, derive(market, numbers.at(-1)!).address]]));
      const problems = (given: readonly number[] | undefined) =>
        findProblems(readTransaction(wire), withNumbers(expected, given), createSearch()).map(({ reason }) => reason);
      expect(problems(numbers), venue).toEqual([]);
      for (const other of [
        numbers.with(-1, numbers.at(-1)! + step),
        [...numbers, 1].slice(1),
        [Number.NaN],
        [2 ** 53],
        undefined,
      ])
        expect(problems(other).join(), `${venue} ${other}`).toContain("is not derived from this market");
    }
  }
});

test("a foreign array of ticks or bins is refused after a bounded number of derivations", async () => {
  const random = createRandom(1318);
  for (const venue of VENUES) {
    const build = await honestBuild(random, venue);
    const expected = expectationOf(build);
    const honest = createSearch();
    expect(findProblems(readTransaction(build.wire), expected, honest)).toEqual([]);
    expect(honest.left, venue).toBeGreaterThan(SEARCH_LIMIT - 200);
    const older = createSearch();
    expect(findProblems(readTransaction(build.wire), withNumbers(expected, undefined), older)).toEqual([]);
    expect(older.left, venue).toBeGreaterThan(SEARCH_LIMIT / 4);
    const hostile = withForeignArrays(random, build);
    expect(hostile.length, venue).toBeGreaterThan(1);
    for (const wire of hostile) {
      const search = createSearch();
      const problems = findProblems(readTransaction(wire), expected, search);
      expect(problems.map(({ reason }) => reason).join("; "), venue).toContain("is not derived from this market");
      expect(search.left, venue).toBe(0);
    }
  }
});
