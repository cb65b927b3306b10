import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { venues } from "../../../src/venues/registry.ts";
import { type Builder, type HonestBuild, startBuilder } from "./honest-builds.ts";
import { buildSample, expectationOf, sampleVenues } from "./sample-builds.ts";

/** How many honest builds have to be accepted; the whole measure is 10 000, run by `npm run slow:client`. */
const COUNT = Number(process.env.HONEST_BUILDS ?? 110);

/** Why a build is refused; undefined when it is accepted. */
function refusal(build: HonestBuild): string | undefined {
  const problems = findProblems(readTransaction(build.wire, build.lookupTables), expectationOf(build));
  return problems.length === 0 ? undefined : problems.map(describeProblem).join("; ");
}

function count(kinds: Map<string, number>, kind: string): void {
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
}

test("honest builds on every venue, in every mode and form, are accepted, all of them", {
  timeout: 3_600_000,
}, async () => {
  expect(sampleVenues.toSorted()).toEqual(venues.map(({ id }) => id).toSorted());
  const random = createRandom(20261120);
  const accepted = new Map<string, number>();
  const refused: string[] = [];
  const isMissing = () =>
    venues.some(
      ({ id, supports }) => !accepted.has(`${id} exactIn`) || (supports.exactOut && !accepted.has(`${id} exactOut`)),
    );
  // A venue's ten of a small run may all be of one mode: refused amounts are drawn again, and which are refused is not the seed's alone.
  for (let done = 0; done < COUNT || (refused.length === 0 && done < 10 * COUNT && isMissing()); ) {
    const build = await buildSample(random, sampleVenues[done % sampleVenues.length]!);
    if (build === undefined) continue;
    done += 1;
    const { venue, order, form } = build;
    const reason = refusal(build);
    if (reason !== undefined) refused.push(`${venue} ${order.swapMode} ${form}: ${reason}`);
    else for (const kind of [`${venue} ${order.swapMode}`, form]) count(accepted, kind);
  }
  expect(refused.slice(0, 5)).toEqual([]);
  for (const { id, supports } of venues) {
    expect(accepted.get(`${id} exactIn`), id).toBeGreaterThan(0);
    if (supports.exactOut) expect(accepted.get(`${id} exactOut`), id).toBeGreaterThan(0);
  }
  process.stdout.write(`accepted: ${JSON.stringify(Object.fromEntries([...accepted].sort()))}\n`);
});

describe("a running service", () => {
  let builder: Builder;
  beforeAll(async () => {
    builder = await startBuilder();
  });
  afterAll(() => builder?.close());

  test("honest builds of a running service, over one market and over two, are accepted, all of them", {
    timeout: 3_600_000,
  }, async () => {
    const random = createRandom(6);
    const accepted = new Map<string, number>();
    const refused: string[] = [];
    for (let done = 0; done < COUNT / 2; ) {
      const build = await builder.build(random);
      if (build === undefined) continue;
      done += 1;
      const reason = refusal(build);
      if (reason !== undefined) refused.push(`${build.venue} ${build.order.swapMode}: ${reason}`);
      else count(accepted, `${build.venue} ${build.order.swapMode}`);
    }
    expect(refused.slice(0, 5)).toEqual([]);
    expect([...accepted.keys()].filter((kind) => kind.includes("+")).length).toBeGreaterThan(0);
    process.stdout.write(`accepted: ${JSON.stringify(Object.fromEntries([...accepted].sort()))}\n`);
  });
});
