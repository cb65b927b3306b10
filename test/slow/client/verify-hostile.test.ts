import { afterAll, beforeAll, expect, test } from "vitest";
import { TradeError } from "../../../src/client/trade-error.ts";
import { lookupTablesOf } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { verifyTransaction } from "../../../src/client/verify/verify-transaction.ts";
import { createRandom } from "../../../src/primitives/random.ts";
import { venues } from "../../../src/venues/registry.ts";
import { type Builder, type HonestBuild, startBuilder } from "./honest-builds.ts";
import { hostileForms, planOf, wireOf } from "./mutations.ts";
import { buildSample, expectationOf, sampleVenues } from "./sample-builds.ts";

/** The whole measure takes every mode and direction of every venue; the quick one takes one of each venue. */
const WHOLE = Number(process.env.HONEST_BUILDS ?? 0) >= 10_000;

let builder: Builder;
/** One honest build of each venue, mode and direction. */
const builds = new Map<string, HonestBuild>();
let plainBuy: HonestBuild;

beforeAll(async () => {
  builder = await startBuilder();
  const random = createRandom(6);
  const isFound = () => plainBuy !== undefined && builds.size > 0;
  for (let tries = 0; tries < 400 && (WHOLE || !isFound()); tries++) {
    const build = await builder.build(random);
    if (build === undefined || build.order.slippage === 0.99 || lookupTablesOf(build.wire).length > 0) continue;
    const { order, venue } = build;
    if (
      order.swapMode === "exactIn" &&
      order.inputMint.startsWith("So1") &&
      !venue.includes("+") &&
      build.answer.priorityCost > 0
    )
      plainBuy = build;
    const side = order.inputMint.startsWith("So1")
      ? "from SOL"
      : order.outputMint.startsWith("So1")
        ? "to SOL"
        : "tokens";
    const kind = `${venue} ${order.swapMode} ${side}`;
    if (venue.includes("+") && (WHOLE || builds.size === 0) && !builds.has(kind)) builds.set(kind, build);
  }
  for (const venue of sampleVenues) {
    const { older, lean } = venues.find(({ id }) => id === venue)!;
    const hasLean = older !== undefined || lean !== undefined;
    const known = () => [...builds.keys()].filter((name) => name.startsWith(`${venue} `));
    const isKnown = () => known().length > 0 && (!hasLean || known().some((name) => name.endsWith(" lean")));
    for (let tries = 0; tries < 60 && (WHOLE || !isKnown()); tries++) {
      const build = await buildSample(random, venue);
      if (build === undefined || build.form === "version 1" || build.lookupTables.size > 0) continue;
      const { swapMode, inputMint } = build.order;
      const way = inputMint.startsWith("So1") ? "from SOL" : "to SOL";
      const kind = `${venue} ${swapMode} ${way}${build.form === "lean" ? " lean" : ""}`;
      if (!builds.has(kind)) builds.set(kind, build);
    }
  }
});
afterAll(() => builder?.close());

const verify = (build: HonestBuild, wire: Uint8Array, lookupTables?: ReadonlyMap<never, never>) =>
  verifyTransaction(wire, expectationOf(build), { lookupTables });

test("every hostile form of every venue's honest builds is refused", () => {
  for (const { id } of venues) {
    expect([...builds.keys()].filter((kind) => kind.startsWith(`${id} `)).length, id).toBeGreaterThan(WHOLE ? 1 : 0);
  }
  const signed: string[] = [];
  const reasons = new Set<string>();
  let count = 0;
  for (const [kind, build] of builds) {
    verify(build, build.wire);
    for (const { name, wire, lookupTables } of hostileForms(build)) {
      count += 1;
      try {
        verify(build, wire, lookupTables as never);
        signed.push(`${kind}: ${name}`);
      } catch (error) {
        if (!(error instanceof TradeError)) throw error;
        expect(error.message).toMatch(/^Refused to sign: .|^The transaction cannot be read: ./);
        reasons.add(error.message.replaceAll(/[1-9A-HJ-NP-Za-km-z]{32,44}|\d+/g, "…"));
      }
    }
  }
  expect(signed).toEqual([]);
  expect(count).toBeGreaterThanOrEqual(300);
  process.stdout.write(
    `${count} hostile transactions of ${builds.size} honest ones refused, for ${reasons.size} reasons\n`,
  );
}, 900_000);

test("the same trade in another form is accepted: recompiled, and through a lookup table that is known", () => {
  for (const build of builds.values()) {
    const plan = planOf(build.wire);
    verify(build, wireOf(plan));
    const entries = plan.instructions.flatMap(({ accounts }) => accounts.map(({ address }) => address));
    const table = { address: entries[0]!, entries: [...new Set(entries)].filter((entry) => entry !== build.wallet) };
    verify(build, wireOf(plan, [table]), new Map([[table.address, table.entries]]) as never);
  }
});

test("an answer that contradicts the order, or breaks a limit, is refused before the transaction is looked at", () => {
  const build = plainBuy;
  const { wallet, order, answer, decimals } = build;
  const estimates = answer.estimates!;
  const code = (change: () => unknown): string => {
    try {
      change();
      return "accepted";
    } catch (error) {
      if (!(error instanceof TradeError)) throw error;
      return error.code;
    }
  };
  const lie = (changes: object, limits = {}) =>
    code(() => expectTrade(wallet, order, { ...answer, ...changes }, { decimals, ...limits }, "caller"));
  expect(lie({})).toBe("accepted");
  expect(lie({ inputMint: answer.outputMint })).toBe("UNEXPECTED_TRANSACTION");
  expect(lie({ outputMint: wallet.toString() })).toBe("UNEXPECTED_TRANSACTION");
  expect(lie({ route: [] })).toBe("UNEXPECTED_TRANSACTION");
  expect(lie({ estimates: undefined })).toBe("UNEXPECTED_TRANSACTION");
  expect(lie({ estimates: { ...estimates, inputAmountRaw: `${BigInt(estimates.inputAmountRaw) * 10n}` } })).toBe(
    "UNEXPECTED_TRANSACTION",
  );
  expect(lie({}, { minOutputAmount: estimates.outputAmount * 2 })).toBe("LIMIT_EXCEEDED");
  expect(lie({}, { maxInputAmount: estimates.inputAmount / 2 })).toBe("LIMIT_EXCEEDED");
  expect(lie({}, { maxPriceImpact: -1 })).toBe("PRICE_IMPACT_TOO_HIGH");
  expect(lie({}, { maxPriorityCost: 0 })).toBe("PRIORITY_COST_TOO_HIGH");
  // The service understates what priority costs: the transaction itself shows it.
  const understated = () =>
    verifyTransaction(build.wire, expectTrade(wallet, order, { ...answer, priorityCost: 0 }, { maxPriorityCost: 0 }));
  expect(code(understated)).toBe("UNEXPECTED_TRANSACTION");
  // A tip that was announced but is not there, and a trade other than the one asked for.
  expect(
    code(() => verify({ ...build, answer: { ...answer, costs: { tip: "1", rentReturned: "0" } } }, build.wire)),
  ).toBe("UNEXPECTED_TRANSACTION");
  const smaller = { ...order, amount: order.amount! / 2 };
  expect(code(() => verifyTransaction(build.wire, expectTrade(wallet, smaller, answer)))).toBe(
    "UNEXPECTED_TRANSACTION",
  );
});
