import { readFileSync } from "node:fs";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { checkOnSvm } from "../../support/shadow-check.ts";
import { Svm } from "../../support/svm.ts";
import { fundPlenty, installPrograms, missingFor, PLAIN_MARKETS } from "./support/open-markets.ts";

/**
 * A program is replaced by one that does anything: a real one with instructions changed at random, which loops, reads what is not
 * there, or trades otherwise. Shadow execution answers in bounded time, and never throws. `SEED=9 BUILDS=500` draws others.
 */
const kinds = PLAIN_MARKETS.filter(
  (kind) => missingFor(kind).length === 0 && ["raydium_cpmm", "orca_whirlpool"].includes(kind.name),
);
const SEED = Number(process.env.SEED ?? 1);
const BUILDS = Number(process.env.BUILDS ?? 40);
const HELD = 10n ** 18n;
const DEPTH = 10n ** 13n;
/** Processor time of the longest check, loading included. */
const MOST_MS = 10_000;

describe.runIf(kinds.length > 0)("programs changed at random", () => {
  it.each(kinds)("$name in any build is checked in bounded time", async (kind) => {
    const random = createRandom(SEED);
    const svm = new Svm();
    installPrograms(svm, kind);
    const wallet = svm.newWallet(10n ** 15n);
    const mints = [svm.newMint({ decimals: 6, supply: HELD }), svm.newMint({ decimals: 6, supply: HELD })] as const;
    fundPlenty(svm, wallet, mints);
    const market = kind.open(svm, wallet, mints, DEPTH);
    const code = readFileSync(`.venues/${kind.name}.so`);
    const seen = { unloadable: 0, equal: 0, different: 0, slowestMs: 0 };
    for (let turn = 0; turn < BUILDS; turn++) {
      // Runtimes are native memory, given back by finalizers.
      globalThis.gc?.();
      await turnOfLoop();
      try {
        svm.addProgram(kind.program, changed(code, random));
      } catch {
        seen.unloadable++;
        continue;
      }
      const began = process.cpuUsage();
      // An engine is kept for each chain: each build gets one of its own.
      const chain = Object.assign(Object.create(svm) as Svm, { rent: (space: number) => svm.rent(space) });
      const answer = checkOnSvm({ svm: chain, venue: kind.venue, market, pair: { a: mints[0], b: mints[1] }, turn });
      const { user, system } = process.cpuUsage(began);
      seen.slowestMs = Math.max(seen.slowestMs, (user + system) / 1_000);
      expect(answer.kind).toBe("checked");
      if (answer.kind === "checked") seen[answer.differences.length > 0 ? "different" : "equal"]++;
    }
    console.log(`${kind.name} changed at random: ${JSON.stringify(seen)}`);
    expect(seen.different).toBeGreaterThan(0);
    expect(seen.slowestMs).toBeLessThan(MOST_MS);
  });
});

const ADD_MOVE_AND_OR = [0x07, 0xb7, 0x57, 0x47];
const JUMPS = [0x15, 0x55, 0x25, 0x35, 0x1d, 0x5d, 0x2d, 0xad];
/** Jumps go back by up to this many instructions: most become loops. */
const REACH = 30n;

/** The code with some of its instructions changed: other numbers, and jumps that go back. */
function changed(code: Uint8Array, random: Random): Uint8Array {
  const bytes = Uint8Array.from(code);
  const view = new DataView(bytes.buffer);
  const { start, size } = instructionsOf(view);
  for (let left = random.pick([300, 3_000, 30_000]); left > 0; left--) {
    const at = start + 8 * Number(random.below(BigInt(size >> 3)));
    const opcode = bytes[at]!;
    if (ADD_MOVE_AND_OR.includes(opcode)) view.setInt32(at + 4, random.u32() & 255, true);
    else if (JUMPS.includes(opcode) && random.chance(0.1))
      view.setInt16(at + 2, -Number(random.below(REACH)) - 1, true);
  }
  return bytes;
}

/** Where the executable section of an ELF file lies. */
function instructionsOf(view: DataView): { readonly start: number; readonly size: number } {
  const table = Number(view.getBigUint64(0x28, true));
  const [entry, count] = [view.getUint16(0x3a, true), view.getUint16(0x3c, true)];
  for (let index = 0; index < count; index++) {
    const at = table + entry * index;
    const isExecutable = (view.getBigUint64(at + 8, true) & 4n) !== 0n;
    if (isExecutable)
      return { start: Number(view.getBigUint64(at + 24, true)), size: Number(view.getBigUint64(at + 32, true)) };
  }
  throw new RangeError("no executable section");
}
