import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { worseThan } from "./execution.ts";
import { mutate, refusalOf } from "./fuzz.ts";
import { programWorld, WORLD_NAMES } from "./program-worlds.ts";
import { buildInWorld, executeInWorld, type WorldBuild } from "./world-builds.ts";

/** What a run of the fuzz found. */
export interface FuzzReport {
  readonly mutants: number;
  readonly builds: number;
  readonly accepted: number;
  /** Of the accepted ones those that the programs execute, and the different executions among them. */
  readonly executed: number;
  readonly ways: number;
  /** Accepted mutants whose execution left the wallet worse than ordered, with their bytes. */
  readonly bad: readonly string[];
}

/** Mutants of one build after another: what was derived for it is remembered. */
const EACH = 20;

/** Changes honest builds of every world at random, and executes what the client would sign. */
export async function fuzz(seed: number, count: number, buildsPerWorld: number): Promise<FuzzReport> {
  const random = createRandom(seed);
  const builds = await honestBuilds(random, buildsPerWorld);
  const judged = new Map<string, ReturnType<typeof executeInWorld>>();
  const bad: string[] = [];
  let [accepted, executed] = [0, 0];
  for (let done = 0; done < count; done++) {
    const mutant = mutate(random, builds[Math.floor(done / EACH) % builds.length]!, builds);
    if (refusalOf(mutant) !== undefined) continue;
    accepted += 1;
    const { wallet, order, answer, decimals, wire, world } = mutant;
    // The programs run once for each thing that transactions do; every order is held against what that did.
    const key = `${world.name}\n${meaningOf(wire)}`;
    const after = judged.get(key) ?? executeInWorld(mutant, wire);
    judged.set(key, after);
    if (after.error === undefined) executed += 1;
    const reason = worseThan(expectTrade(wallet, order, answer, { decimals }, "caller"), after);
    if (reason !== undefined) bad.push(`${world.name}: ${reason} ${Buffer.from(wire).toString("base64")}`);
  }
  return { mutants: count, builds: builds.length, accepted, executed, ways: judged.size, bad };
}

async function honestBuilds(random: Random, perWorld: number): Promise<readonly WorldBuild[]> {
  const builds: WorldBuild[] = [];
  for (const name of WORLD_NAMES) {
    const world = programWorld(name);
    for (let made = 0; made < perWorld; ) {
      const build = await buildInWorld(random, world);
      if (build === undefined) continue;
      made += 1;
      builds.push(build);
    }
  }
  return builds;
}

/** What a transaction does, whatever its blockhash and the order of its keys. */
function meaningOf(wire: Uint8Array): string {
  const { instructions, config, accounts } = readTransaction(wire);
  const rights = accounts.map(({ address, writable }) => `${address}${writable ? "w" : ""}`).sort();
  const done = instructions.map(
    ({ program, accounts: named, data }) =>
      `${program} ${named.map(({ address }) => address)} ${Buffer.from(data).toString("hex")}`,
  );
  const limits = `${config?.priorityFeeLamports} ${config?.computeUnitLimit} ${config?.loadedAccountsLimit}`;
  return [...rights, ...done, limits].join("\n");
}

if (import.meta.main) {
  const [seed, count, buildsPerWorld] = process.argv.slice(2).map(Number);
  process.stdout.write(JSON.stringify(await fuzz(seed!, count!, buildsPerWorld!)));
}
