import { hash } from "node:crypto";
import { expect, test, vi } from "vitest";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { worseThan } from "./execution.ts";
import { mutate, refusalOf } from "./fuzz.ts";
import { programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";

// The hash function is not what is tested: Node's own is several times faster than the client's.
vi.mock("@noble/hashes/sha2.js", async (original) => ({
  ...(await original<object>()),
  sha256: (bytes: Uint8Array) => new Uint8Array(hash("sha256", bytes, "buffer")),
}));

/**
 * How many mutants there are; the whole measure is 1 000 000, run by `npm run slow:client`. Shards of it run side by side:
 * `MUTANT_SEED=2 MUTANTS=250000 npx vitest run test/slow/client/fuzz.test.ts`.
 */
const COUNT = Number(process.env.MUTANTS ?? 500);
const SEED = Number(process.env.MUTANT_SEED ?? 1);
/** Honest builds of each world, every one of them changed many times. */
const BUILDS_PER_WORLD = COUNT >= 100_000 ? 40 : 2;
/** Mutants of one build after another: what was derived for it is remembered. */
const EACH = 20;

async function honestBuilds(random: Random): Promise<readonly WorldBuild[]> {
  const builds: WorldBuild[] = [];
  for (const name of WORLD_NAMES) {
    const world = programWorld(name);
    for (let made = 0; made < BUILDS_PER_WORLD; ) {
      const build = await buildInWorld(random, world);
      if (build === undefined) continue;
      made += 1;
      builds.push(build);
    }
  }
  return builds;
}

/** Share of the mutants with a foreign tick or bin array that are verified: each takes as long as a thousand others. */
const SEARCHED = 0.002;

/** True if an array of ticks or bins is none of the honest transaction's: the whole row is searched for it in vain. */
function isLongSearch(wire: Uint8Array, honest: Uint8Array): boolean {
  const known = new Set(arraysOf(honest));
  return arraysOf(wire).some((array) => !known.has(array));
}

function arraysOf(wire: Uint8Array): readonly Address[] {
  try {
    return readTransaction(wire).instructions.flatMap((instruction) => {
      const table = findSwapTable(instruction);
      if (table === undefined) return [];
      const places = [...table.accounts, ...table.tails.flat(), ...(table.repeated ? [table.repeated.place] : [])];
      const first = places.findIndex(({ rule }) => rule.kind === "ladder");
      return first < 0 ? [] : instruction.accounts.slice(first).map(({ address }) => address);
    });
  } catch {
    return [];
  }
}

/** What a transaction does, whatever its blockhash and the order of its keys. */
function meaningOf(wire: Uint8Array): string {
  const { instructions, config, accounts } = readTransaction(wire);
  const rights = accounts.map(({ address, writable }) => `${address}${writable ? "w" : ""}`).sort();
  const done = instructions.map(
    ({ program, accounts: named, data }) =>
      `${program} ${named.map(({ address }) => address)} ${Buffer.from(data).toString("hex")}`,
  );
  return [
    ...rights,
    ...done,
    `${config?.priorityFeeLamports} ${config?.computeUnitLimit} ${config?.loadedAccountsLimit}`,
  ].join("\n");
}

test("no accepted mutant, executed on the programs, leaves the wallet worse than the order promised", {
  timeout: 7_200_000,
}, async () => {
  const random = createRandom(SEED);
  const builds = await honestBuilds(random);
  const judged = new Map<string, ReturnType<typeof executeInWorld>>();
  const bad: string[] = [];
  let [accepted, executed, leftOut] = [0, 0, 0];
  for (let done = 0; done < COUNT; ) {
    const build = builds[Math.floor(done / EACH) % builds.length]!;
    const mutant = mutate(random, build, builds);
    if (isLongSearch(mutant.wire, build.wire) && !random.chance(SEARCHED)) {
      leftOut += 1;
      continue;
    }
    done += 1;
    if (refusalOf(mutant) !== undefined) continue;
    accepted += 1;
    const { wallet, order, answer, decimals, wire, world } = mutant;
    // The programs run once for each thing that transactions do; every order is held against what that did.
    const key = `${world.name}\n${meaningOf(wire)}`;
    const after = judged.get(key) ?? executeInWorld(mutant, wire);
    judged.set(key, after);
    if (after.error === undefined) executed += 1;
    const reason = worseThan(expectTrade(wallet, order, answer, { decimals }), after);
    if (reason !== undefined) bad.push(`${world.name}: ${reason} ${Buffer.from(wire).toString("base64")}`);
  }
  expect(bad.slice(0, 3)).toEqual([]);
  expect(executed).toBeGreaterThan(COUNT / 50);
  process.stdout.write(
    `${COUNT} mutants of ${builds.length} builds in ${WORLD_NAMES.length} worlds: ${accepted} accepted, ${executed} of them execute, in ${judged.size} ways: 0 worse; ${leftOut} with foreign arrays left out\n`,
  );
});
