import { afterAll, beforeAll, expect, test } from "vitest";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { Address } from "../../../src/primitives/address.ts";
import { equalBytes } from "../../../src/primitives/bytes.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { SOL_MINT } from "../../../src/solana/programs.ts";
import { thefts } from "./attacks.ts";
import { execute, worseThan } from "./execution.ts";
import { type Builder, type HonestBuild, startBuilder } from "./honest-builds.ts";
import { hostileForms } from "./mutations.ts";
import { refusal } from "./refusal.ts";
import { asVersion1 } from "./version-1.ts";
import { attacksInVersion1, headerAttacks } from "./version-1-attacks.ts";

/** The whole measure lets the chain execute every attack that is only counted; the quick one, every fourth. */
const EXECUTED_OF = Number(process.env.HONEST_BUILDS ?? 0) >= 10_000 ? 1 : 4;

let builder: Builder;
let buy: HonestBuild;
beforeAll(async () => {
  builder = await startBuilder();
  const random = createRandom(20261122);
  for (let tries = 0; buy === undefined && tries < 2_000; tries++) {
    const build = await builder.build(random);
    if (build === undefined || build.venue !== "raydium_cpmm") continue;
    const { order, answer } = build;
    const isSmall = order.amount! > 0.001 && order.amount! < 0.5 && order.slippage >= 0.001 && order.slippage < 0.9;
    const isBuy = order.swapMode === "exactIn" && order.inputMint === SOL_MINT.toString();
    if (isBuy && isSmall && answer.priorityCost > 0 && BigInt(answer.estimates!.outputAmountRaw) > 10n ** 6n)
      buy = build;
  }
  expect(buy).toBeDefined();
});
afterAll(() => builder?.close());

/** True if the bytes can be read as version 0 without a lookup table. */
function isVersion0(wire: Uint8Array): boolean {
  try {
    return readTransaction(wire).version === 0;
  } catch {
    return false;
  }
}

test("every named theft is refused, and those that the chain executes are what they say", async () => {
  const mints = [buy.order.inputMint, buy.order.outputMint].map((mint) => Address.of(mint));
  const expected = expectTrade(buy.wallet, buy.order, buy.answer, { decimals: buy.decimals }, "caller");
  const honest = await execute(builder.service.rpc, buy.wire, buy.wallet, mints);
  expect([honest.error, worseThan(expected, honest)]).toEqual([undefined, undefined]);
  const executed: string[] = [];
  for (const attack of thefts(buy)) {
    expect(refusal(buy, attack), attack.name).toMatch(attack.stopped);
    const taken = await execute(builder.service.rpc, attack.wire!, buy.wallet, mints);
    if (worseThan(expected, taken) !== undefined) executed.push(attack.name);
  }
  expect(executed).toContain("a second wrapped-SOL account, filled and left");
  expect(executed).toContain("SOL to a stranger");
  process.stdout.write(`${executed.length} of the thefts would have executed: ${executed.join("; ")}\n`);
});

test("every attack is refused in version 1 too, and every attack by its header", async () => {
  const honestV1 = asVersion1(buy.wire);
  expect(refusal(buy, { wire: honestV1 })).toBeUndefined();
  const attacks = [...headerAttacks(buy), ...attacksInVersion1(buy)];
  expect(new Set(attacks.map(({ name }) => name)).size).toBeGreaterThanOrEqual(95);
  for (const attack of attacks) expect(refusal(buy, attack) ?? "accepted", attack.name).toMatch(attack.stopped);
  for (const { name, wire, lookupTables } of hostileForms(buy)) {
    if (lookupTables !== undefined || !isVersion0(wire)) continue;
    const changed = asVersion1(wire);
    // What only version 0 has, such as where its signature is, leaves no trace in version 1.
    if (equalBytes(changed, honestV1)) continue;
    expect(refusal(buy, { wire: changed }) ?? "accepted", `${name}, in version 1`).not.toBe("accepted");
  }
  const mints = [buy.order.inputMint, buy.order.outputMint].map((mint) => Address.of(mint));
  const expected = expectTrade(buy.wallet, buy.order, buy.answer, { decimals: buy.decimals }, "caller");
  const honest = await execute(builder.service.rpc, honestV1, buy.wallet, mints);
  expect([honest.error, worseThan(expected, honest)]).toEqual([undefined, undefined]);
  const executed: string[] = [];
  for (const [i, { name, wire }] of attacks.entries()) {
    if (i % EXECUTED_OF > 0 && !name.startsWith("SOL to a stranger")) continue;
    const taken = await execute(builder.service.rpc, wire!, buy.wallet, mints).catch(() => undefined);
    if (taken !== undefined && worseThan(expected, taken) !== undefined) executed.push(name);
  }
  expect(executed).toContain("SOL to a stranger, in version 1");
  process.stdout.write(`${attacks.length} in version 1 refused; ${executed.length} would have executed\n`);
});

test("every form of a changed transaction is refused; what the chain would have executed is counted", async () => {
  const mints = [buy.order.inputMint, buy.order.outputMint].map((mint) => Address.of(mint));
  const expected = expectTrade(buy.wallet, buy.order, buy.answer, { decimals: buy.decimals }, "caller");
  const names = new Set<string>();
  let executable = 0;
  for (const { name, wire, lookupTables } of hostileForms(buy)) {
    names.add(name);
    const known = lookupTables === undefined ? buy : { ...buy, lookupTables };
    expect(refusal(known, { wire }), name).toMatch(/./);
    if (lookupTables !== undefined || names.size % EXECUTED_OF > 0) continue;
    const taken = await execute(builder.service.rpc, wire, buy.wallet, mints).catch(() => undefined);
    if (taken !== undefined && worseThan(expected, taken) !== undefined) executable += 1;
  }
  expect(names.size).toBeGreaterThanOrEqual(100);
  expect(executable).toBeGreaterThan(0);
  process.stdout.write(`${names.size} forms refused; ${executable} would have executed and left the wallet worse\n`);
});
