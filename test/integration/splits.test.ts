import { expect, test } from "vitest";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../src/client/verify/verification.ts";
import { TradewireError } from "../../src/errors/tradewire-error.ts";
import { readU64, writeU64 } from "../../src/primitives/bytes.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { CPMM_PROGRAM } from "../../src/sandbox/world/cpmm.ts";
import { SOL_MINT } from "../../src/solana/programs.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import type { BuiltTrade, TradeRequest } from "../../src/trade/trade.ts";
import { answerOf } from "../slow/client/honest-builds.ts";
import { drawSplitWorld, type SplitWorld } from "../support/split-world.ts";

/** Trades over parallel paths and up to three markets in a row, executed by the program and read by the client. */
const random = createRandom(57);
const WORLDS = 6;
const ASKS = 8;

function draw(world: SplitWorld): TradeRequest {
  const [inMint, outMint] = random.chance(0.5)
    ? random.chance(0.5)
      ? [world.mints[0]!, world.mints[1]!]
      : [world.mints[1]!, world.mints[0]!]
    : random.chance(0.5)
      ? [SOL_MINT, world.mints[0]!]
      : [world.mints[0]!, SOL_MINT];
  return {
    principal: { accountId: "test", keyId: "test", wallet: world.wallet },
    inMint,
    outMint,
    mode: random.chance(0.6) ? "exactIn" : "exactOut",
    amount: Number.NaN,
    maxTransactionVersion: 1,
    amountRaw: random.between(10n ** 9n, 10n ** 11n).toString(),
    slippage: random.pick([0, 0.01, 0.3]),
    priority: "fast",
    maxPriceImpact: undefined,
    maxPriorityCost: undefined,
  };
}

async function buildOrNone(world: SplitWorld, request: TradeRequest): Promise<BuiltTrade | undefined> {
  try {
    return await buildTrade(world.ports(), request);
  } catch (error) {
    if (error instanceof TradewireError) return undefined;
    throw error;
  }
}

function orderOf(request: TradeRequest, built: BuiltTrade) {
  return {
    inputMint: built.inMint.toString(),
    outputMint: built.outMint.toString(),
    swapMode: request.mode,
    amountRaw: request.amountRaw,
    slippage: request.slippage,
  };
}

function expectationOf(world: SplitWorld, request: TradeRequest, built: BuiltTrade) {
  const limits = { decimals: { input: built.inDecimals, output: built.outDecimals }, maxPriorityCost: 1 };
  return expectTrade(world.wallet, orderOf(request, built), answerOf(built), limits, "caller");
}

test("what a split is quoted is what its transaction moves, and the client reads it as that trade", async () => {
  const seen = { trades: 0, splits: 0, shared: 0, long: 0 };
  for (let index = 0; index < WORLDS; index++) {
    const world = drawSplitWorld(random);
    for (let ask = 0; ask < ASKS; ask++) {
      const request = draw(world);
      const built = await buildOrNone(world, request);
      if (built === undefined) continue;
      const what = `${index}/${ask} ${request.mode} ${request.amountRaw} ${request.slippage} ${built.route.map(({ path, market }) => `${path ?? 0}:${market.toString().slice(0, 4)}`)}`;
      const paths = new Set(built.route.map(({ path }) => path ?? 0)).size;
      seen.trades++;
      if (paths > 1) seen.splits++;
      if (new Set(built.route.map(({ market }) => market)).size < built.route.length) seen.shared++;
      if (built.route.some((leg, at) => (leg.path ?? 0) === (built.route[at + 2]?.path ?? -1))) seen.long++;
      const problems = findProblems(readTransaction(built.unsignedTransaction), expectationOf(world, request, built));
      expect(problems, what).toEqual([]);
      expect(request.mode === "exactIn" ? built.estimates.inAmount : built.estimates.outAmount, what).toBe(
        BigInt(request.amountRaw!),
      );
      const between = (built.estimates.remainders ?? []).map(({ mint }) => mint);
      const mints = [built.inMint, ...between, built.outMint];
      const before = mints.map((mint) => world.held(mint));
      const done = world.execute(built.unsignedTransaction);
      expect(done.ok, `${what} ${done.logs.slice(-4).join("\n")}`).toBe(true);
      const lamports = 5_000n + built.costs.rentPaid;
      const fee = paidOnSvm(built);
      const moved = mints.map((mint, at) => world.held(mint) - before[at]! + (mint === SOL_MINT ? lamports + fee : 0n));
      const { inAmount, outAmount, remainders = [] } = built.estimates;
      expect(moved, what).toEqual([-inAmount, ...remainders.map(({ amount }) => amount), outAmount]);
      expect(done.computeUnits, what).toBeLessThan(1_400_000);
    }
  }
  console.log(`splits | ${JSON.stringify(seen)}`);
  expect(seen.splits).toBeGreaterThan(10);
  expect(seen.long).toBeGreaterThan(0);
  expect(seen.shared).toBeGreaterThan(0);
});

test("the loss from a best route that fits into no transaction is stated, also by later builds that no longer try it", async () => {
  const worlds = createRandom(11);
  let lost = 0;
  for (let index = 0; index < WORLDS; index++) {
    const world = drawSplitWorld(worlds);
    const request: TradeRequest = {
      ...draw(world),
      inMint: world.mints[0]!,
      outMint: world.mints[1]!,
      mode: "exactIn",
      amountRaw: "70000000000",
      // Nothing stays between markets: the value of a route is its output.
      slippage: 0,
    };
    const ports = world.ports();
    const build = async (maxTransactionVersion: number) => {
      try {
        return await buildTrade(ports, { ...request, maxTransactionVersion });
      } catch (error) {
        if (error instanceof TradewireError) return undefined;
        throw error;
      }
    };
    const [wide, narrow, again] = [await build(1), await build(0), await build(0)];
    if (wide === undefined || narrow === undefined || wide.estimates.fitLoss !== undefined) continue;
    const [more, less] = [Number(wide.estimates.outAmount), Number(narrow.estimates.outAmount)];
    const loss = narrow.estimates.fitLoss ?? 0;
    expect(loss).toBeCloseTo(more / less - 1, 5);
    expect(again!.estimates).toEqual(narrow.estimates);
    if (loss > 0) lost++;
  }
  expect(lost).toBeGreaterThan(0);
});

test("a swap of a split that takes more or guarantees less is refused by the client", async () => {
  const world = drawSplitWorld(createRandom(3));
  const request: TradeRequest = {
    ...draw(world),
    inMint: world.mints[0]!,
    outMint: world.mints[1]!,
    mode: "exactIn",
    amountRaw: "50000000000",
    slippage: 0.01,
  };
  const built = (await buildOrNone(world, request))!;
  expect(new Set(built.route.map(({ path }) => path)).size).toBeGreaterThan(1);
  const expectation = expectationOf(world, request, built);
  const wire = built.unsignedTransaction;
  const { instructions } = readTransaction(wire);
  let mutants = 0;
  for (const { data } of instructions.filter((one) => one.program === CPMM_PROGRAM)) {
    for (const [at, change] of [
      [8, 1n],
      [8, -1n],
      [16, -10n],
    ] as const) {
      const mutant = wire.slice();
      const place = data.byteOffset - wire.byteOffset + at;
      writeU64(mutant, place, readU64(mutant, place) + change);
      // Taking less of a mint between two markets harms nobody.
      const problems = findProblems(readTransaction(mutant), expectation);
      if (change !== -1n) expect(problems, `${at} ${change}`).not.toEqual([]);
      mutants++;
    }
  }
  expect(mutants).toBeGreaterThan(3);
  const lies = [
    (leg: object) => ({ ...leg, path: 7 }),
    (leg: object) => ({ ...leg, market: world.wallet.toString() }),
    (leg: object) => ({ ...leg, outputAmountRaw: "1" }),
  ];
  for (const lie of lies) {
    const answer = answerOf(built);
    const route = answer.route.map((leg, index) => (index === answer.route.length - 1 ? lie(leg) : leg));
    const told = { ...answer, route } as typeof answer;
    const decimals = { input: 6, output: 6 };
    const readProblems = () =>
      findProblems(
        readTransaction(wire),
        expectTrade(world.wallet, orderOf(request, built), told, { decimals }, "caller"),
      );
    expect(() => {
      const problems = readProblems();
      if (problems.length > 0) throw new Error("refused");
    }).toThrow();
  }
});

/** Lamports of priority that the SVM charges: version 1 messages are run without their price. */
function paidOnSvm({ unsignedTransaction, costs }: BuiltTrade): bigint {
  return readTransaction(unsignedTransaction).config === undefined ? costs.priorityFee : 0n;
}
