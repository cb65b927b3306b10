import { expect, test } from "vitest";
import { readBaseInstruction } from "../../../src/client/verify/base-instruction.ts";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { writeU32, writeU64 } from "../../../src/primitives/bytes.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { worseThan } from "./execution.ts";
import { type ProgramWorld, programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";

/** Worlds of one market. Those of `raydium_launchlab` are a stand-in's, and its purchases count as cut. */
const SINGLE = WORLD_NAMES.filter((name) => programWorld(name).markets.length === 1);
const BUILDS = 8;
const TRIES = 400;
/** Base units: from what every market holds to more than any does. */
const ASKED = [10n ** 6n, 10n ** 10n, 10n ** 11n, 9n * 10n ** 11n, 10n ** 12n - 1n, 10n ** 12n, 3n * 10n ** 12n];
const UNBOUNDED = 1n << 62n;
const MOST_UNITS = 1_400_000;

/** An honest swap for an exact output; undefined after many tries. */
async function exactOutput(random: Random, world: ProgramWorld): Promise<WorldBuild | undefined> {
  for (let tries = 0; tries < TRIES; tries++) {
    const build = await buildInWorld(random, world);
    if (build?.order.swapMode === "exactOut" && build.form !== "version 1") return build;
  }
  return undefined;
}

/** The same transaction for this much, at any price, with all units and no priority; undefined if the venue has no swap for an exact output. */
function askingFor(amount: bigint, { wire }: WorldBuild): Uint8Array | undefined {
  const asking = wire.slice();
  let isExact = false;
  for (const instruction of readTransaction(wire).instructions) {
    const { data } = instruction;
    const start = data.byteOffset - wire.byteOffset;
    const table = findSwapTable(instruction);
    if (table?.exact === "out") {
      writeU64(asking, start + table.outAt, amount);
      // What a purchase may take of wrapped SOL, the account was opened with.
      writeU64(asking, start + table.inAt, UNBOUNDED);
      isExact = true;
    }
    const kind = readBaseInstruction(instruction)?.kind;
    if (kind === "computeUnitLimit") writeU32(asking, start + 1, MOST_UNITS);
    if (kind === "computeUnitPrice") writeU64(asking, start + 1, 0n);
  }
  return isExact ? asking : undefined;
}

test.runIf(SINGLE.length > 0)(
  "a swap for an exact output yields all of it or fails, however much is asked for",
  async () => {
    const random = createRandom(34);
    const [yielded, failed] = [new Set<string>(), new Set<string>()];
    const short: string[] = [];
    for (const name of SINGLE) {
      const world = programWorld(name);
      for (let made = 0; made < BUILDS; made++) {
        const build = await exactOutput(random, world);
        if (build === undefined) break;
        const { wallet, order, answer, decimals, venue } = build;
        const expected = expectTrade(wallet, order, answer, { decimals }, "caller");
        for (const amount of ASKED) {
          const asking = askingFor(amount, build);
          if (asking === undefined) break;
          const done = executeInWorld(build, asking);
          const worse = worseThan({ ...expected, amount, threshold: UNBOUNDED }, done);
          if (worse !== undefined) short.push(`${name}, ${amount}: ${worse}`);
          else if (done.error === undefined) yielded.add(venue);
          else failed.add(venue);
        }
      }
    }
    expect(short).toEqual([]);
    const venues = [...new Set(SINGLE.map((name) => name.split(",")[0]!))].filter(
      (venue) => venue !== "meteora_damm_v1",
    );
    expect([...yielded].toSorted()).toEqual(venues.toSorted());
    expect([...failed].toSorted()).toEqual(venues.toSorted());
  },
);
