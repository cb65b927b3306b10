import { expect, test } from "vitest";
import { findSwapTable } from "../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { type Attack, liesAboutBuy, thefts } from "../slow/client/attacks.ts";
import { formAttacks } from "../slow/client/form-attacks.ts";
import { hostileForms } from "../slow/client/mutations.ts";
import { refusal } from "../slow/client/refusal.ts";
import { buildDividedPurchase, buildSample, type SampleBuild, sampleVenues } from "../slow/client/sample-builds.ts";
import { splitAttacks } from "../slow/client/split-attacks.ts";
import { asVersion1 } from "../slow/client/version-1.ts";
import { attacksInVersion1, headerAttacks } from "../slow/client/version-1-attacks.ts";

async function smallBuy(): Promise<SampleBuild> {
  const random = createRandom(20261122);
  for (let tries = 0; tries < 2_000; tries++) {
    const build = await buildSample(random, "raydium_cpmm");
    if (build?.form !== "plain" || build.order.swapMode !== "exactIn") continue;
    const { inputMint, slippage, amount = 0 } = build.order;
    const isSmall = amount > 0.001 && amount < 0.5 && slippage >= 0.001 && slippage < 0.9;
    if (inputMint === SOL_MINT.toString() && isSmall) return build;
  }
  throw new Error("No purchase is small enough to be attacked.");
}

/** The swap instructions that a build uses. */
function swapsOf({ wire, lookupTables }: SampleBuild): string {
  const { instructions } = readTransaction(wire, lookupTables);
  return instructions
    .map((one) => findSwapTable(one)?.name ?? "")
    .join(" ")
    .trim();
}

test("every named attack on an honest purchase is refused, by the check that is meant to", async () => {
  const buy = await smallBuy();
  expect(refusal(buy, {})).toBeUndefined();
  expect(refusal(buy, { wire: asVersion1(buy.wire) })).toBeUndefined();
  const [lies, forms] = [liesAboutBuy(buy), formAttacks(buy)];
  // The promise counts them (row 51): a table that lost its entries would pass what follows.
  const namesOf = (attacks: readonly Attack[]) => new Set(attacks.map(({ name }) => name)).size;
  expect(namesOf(lies)).toBeGreaterThanOrEqual(60);
  expect(namesOf(forms)).toBeGreaterThanOrEqual(35);
  for (const attack of [...lies, ...thefts(buy), ...forms, ...headerAttacks(buy), ...attacksInVersion1(buy)]) {
    expect(refusal(buy, attack) ?? "accepted", attack.name).toMatch(attack.stopped);
  }
});

test("every named attack on a divided purchase is refused, by the check that is meant to", async () => {
  for (const swapMode of ["exactIn", "exactOut"] as const) {
    const purchase = await buildDividedPurchase(swapMode);
    expect(refusal(purchase, {})).toBeUndefined();
    for (const attack of splitAttacks(purchase)) {
      expect(refusal(purchase, attack) ?? "accepted", `${attack.name}, ${swapMode}`).toMatch(attack.stopped);
    }
  }
});

test.each(sampleVenues)("every form of a trade on %s is accepted, and no hostile change of it", async (venue) => {
  const random = createRandom(7);
  const known = new Set<string>();
  for (let tries = 0; tries < 16; tries++) {
    const build = await buildSample(random, venue);
    if (build === undefined) continue;
    expect(refusal(build, {}), build.form).toBeUndefined();
    const swaps = swapsOf(build);
    if (build.form === "version 1" || build.lookupTables.size > 0 || known.has(swaps)) continue;
    known.add(swaps);
    for (const { name, wire, lookupTables = build.lookupTables } of hostileForms(build)) {
      expect(refusal({ ...build, lookupTables }, { wire }), `${name} of ${swaps}`).toBeDefined();
    }
  }
  expect(known.size).toBeGreaterThan(0);
});
