import { Rent } from "litesvm";
import { expect, test } from "vitest";
import { scaledTrade } from "../../src/client/node/scaled-trade.ts";
import { describeProblem } from "../../src/client/verify/problem.ts";
import { readTransaction } from "../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../src/client/verify/verification.ts";
import { readU64, writeU64 } from "../../src/primitives/bytes.ts";
import { createRandom } from "../../src/primitives/random.ts";
import { type Instruction, readonly } from "../../src/solana/instruction.ts";
import { SOL_MINT, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, USDC_MINT } from "../../src/solana/programs.ts";
import { closeTokenAccount } from "../../src/solana/token/token-instructions.ts";
import { buildTrade } from "../../src/trade/build/build-trade.ts";
import { measureRoutes } from "../../src/trade/build/route-fit.ts";
import { wrappedSolAccount } from "../../src/trade/build/wallet-accounts.ts";
import { type QuotePorts, quoteTrade } from "../../src/trade/quote/quote-trade.ts";
import { failedOutcome } from "../../src/trade/submit/outcome/landed-failure.ts";
import { venues } from "../../src/venues/registry.ts";
import { answerOf } from "../slow/client/honest-builds.ts";
import { wireOf } from "../slow/client/mutations.ts";
import {
  type GuardedSale,
  guardAt,
  guardedSales,
  instructionsOf,
  judgeMoved,
  rebound,
  someGuardedSales,
  tryOut,
} from "../support/guard-world.ts";

const MOVED_SALES = 10;
const sales = await someGuardedSales(createRandom(61), 0.01, 3);

function problemsOf({ world, request, guarded }: GuardedSale, wire: Uint8Array, built = guarded) {
  const order = {
    inputMint: built.inMint.toString(),
    outputMint: built.outMint.toString(),
    swapMode: request.mode,
    amountRaw: request.amountRaw,
    slippage: request.slippage,
  };
  const limits = { decimals: { input: 6, output: 9 }, maxPriorityCost: 1, tipAccounts: "any" as const };
  const expected = expectTrade(world.wallet, order, answerOf(built), limits, "caller");
  return findProblems(readTransaction(wire), expected).map(describeProblem);
}

/** The outcome that a service reports of a run that failed. */
function outcomeOf(instructions: readonly Instruction[], error: string) {
  const [, at, custom] = /InstructionError\((\d+),Custom\((\d+)\)\)/.exec(error.replace(/\s/g, "")) ?? [];
  const record = {
    slot: 1n,
    error: { InstructionError: [Number(at), { Custom: Number(custom) }] },
    feeLamports: 5_000n,
    logs: [],
  } as unknown as Parameters<typeof failedOutcome>[1]["record"];
  const sent = { signature: "signature", programs: instructions.map(({ program }) => program) };
  return { at: Number(at), outcome: failedOutcome(sent, { record, witnesses: 1 }, venues) };
}

test("a guard that asks for what arrives lands; one unit more is SLIPPAGE_EXCEEDED, by instruction index", async () => {
  for (const sale of sales) {
    const { world, guarded, plain } = sale;
    expect(problemsOf(sale, guarded.unsignedTransaction)).toEqual([]);
    expect(problemsOf(sale, plain.unsignedTransaction, plain)).toEqual([]);
    const { outAmount, threshold } = guarded.estimates;
    const instructions = instructionsOf(guarded, world);
    const guard = instructions.findIndex(({ program, data }) => program === TOKEN_PROGRAM && data[0] === 12);
    // What rent is above its least counts as if it were output.
    expect(readU64(instructions[guard]!.data, 1)).toBe(threshold + world.svm.rent(165) - 203_928n);
    expect(tryOut(world, instructions).error).toBe("");
    expect(tryOut(world, rebound(instructions, outAmount)).error).toBe("");
    const refused = tryOut(world, rebound(instructions, outAmount + 1n));
    expect(refused.ok).toBe(false);
    const { at, outcome } = outcomeOf(instructions, refused.error);
    expect(at).toBe(guard);
    expect(outcome).toMatchObject({ kind: "failed", code: "SLIPPAGE_EXCEEDED", facts: { safeToRebuild: true } });
    // If rent falls to its least before the transaction lands, the account holds the rest, and nothing beyond what was counted.
    const above = world.svm.rent(165) - 203_928n;
    world.svm.inner.setRent(new Rent(696n, 1, 50));
    expect(tryOut(world, rebound(instructions, outAmount + above)).error).toBe("");
    expect(tryOut(world, rebound(instructions, outAmount + above + 1n)).ok).toBe(false);
    world.svm.inner.setRent(new Rent(world.svm.rent(0) / 128n, 1, 50));
  }
});

test("sales that are good as a whole fail at the bounds of single markets, and land with a guard", async () => {
  const random = createRandom(64);
  const seen = { good: 0, plain: 0, guarded: 0, bad: 0, loose: 0 };
  let left = MOVED_SALES;
  for await (const sale of guardedSales(random, 0.01)) {
    judgeMoved(sale, random, seen);
    if (--left === 0) break;
  }
  expect(seen.good).toBeGreaterThan(3);
  expect(seen.guarded).toBeGreaterThan(seen.plain);
  expect(seen.loose).toBe(0);
});

test("a swap that wants for balance is not taken for a guard that failed", () => {
  const venue = venues[0]!.programs[0]!;
  const record = { slot: 1n, error: { InstructionError: [0, { Custom: 1 }] }, feeLamports: 5_000n };
  const logs = [
    `Program ${TOKEN_PROGRAM} failed: custom program error: 0x1`,
    `Program ${venue} failed: custom program`,
  ];
  const sent = { signature: "signature", programs: [venue] };
  const outcome = failedOutcome(sent, { record: { ...record, logs } as never, witnesses: 1 }, venues);
  expect(outcome).toMatchObject({ code: "INSUFFICIENT_TOKEN_BALANCE" });
});

test("the client refuses every mutation of a guard, by the check that is meant to", async () => {
  for (const sale of sales) {
    for (const { name, instructions, stopped } of mutationsOf(sale)) {
      const wire = wireOf({ payer: sale.world.wallet, instructions, blockhash: new Uint8Array(32) });
      const found = problemsOf(sale, wire).join("; ");
      expect(found, name).toMatch(stopped);
    }
  }
});

test("a client with a node simulates a part of a guarded trade, as of any other", () => {
  for (const { world, guarded, plain } of sales) {
    for (const built of [guarded, plain]) {
      const wire = built.unsignedTransaction;
      const scaled = scaledTrade(wire, readTransaction(wire), 1_000n).wire;
      expect(tryOut(world, instructionsOf({ ...built, unsignedTransaction: scaled }, world)).error).toBe("");
    }
  }
});

interface Mutation {
  readonly name: string;
  readonly instructions: readonly Instruction[];
  readonly stopped: RegExp;
}

function mutationsOf({ world, guarded }: GuardedSale): Mutation[] {
  const { wallet } = world;
  const instructions = instructionsOf(guarded, world);
  const offset = instructions.length - readTransaction(guarded.unsignedTransaction).instructions.length;
  const at = guardAt(guarded) + offset;
  const guard = instructions[at]!;
  const opened = instructions.findIndex(({ data }) => data[0] === 3 && data.length > 90);
  const first = instructions.findIndex(({ data }, index) => index > opened + 1 && data.length === 24);
  const changed = (change: Partial<Instruction>): Instruction[] => instructions.with(at, { ...guard, ...change });
  const data = (write: (bytes: Uint8Array) => void): Instruction[] => {
    const bytes = guard.data.slice();
    write(bytes);
    return changed({ data: bytes });
  };
  const account = (place: number, address: Instruction["program"]): Instruction[] =>
    changed({ accounts: guard.accounts.map((one, index) => (index === place ? { ...one, address } : one)) });
  const amount = readU64(guard.data, 1);
  const withAmount = (value: bigint) => data((bytes) => writeU64(bytes, 1, value));
  const own = wrappedSolAccount(wallet).address;
  const funded = (more: bigint): Instruction[] => {
    const bytes = instructions[opened]!.data.slice();
    const place = bytes.length - 48;
    writeU64(bytes, place, readU64(bytes, place) + more);
    return instructions.with(opened, { ...instructions[opened]!, data: bytes });
  };
  const looser = instructions.map((one, index): Instruction => {
    if (index !== first) return one;
    const bytes = one.data.slice();
    writeU64(bytes, 16, 0n);
    return { ...one, data: bytes };
  });
  const lamports = (to: Instruction["program"]): Instruction => ({
    program: instructions[opened]!.program,
    accounts: [
      { address: wallet, writable: true, signer: true },
      { address: to, writable: true, signer: false },
    ],
    data: Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0),
  });
  const temporary = guard.accounts[0]!.address;
  const existing = { ...guard, accounts: [0, 1, 2, 3].map((place) => ({ ...guard.accounts[place]! })) };
  for (const place of [0, 2]) existing.accounts[place] = { ...existing.accounts[place]!, address: own };
  return [
    { name: "one unit less", instructions: withAmount(amount - 1n), stopped: /requires .* in sum/ },
    { name: "one unit more", instructions: withAmount(amount + 1n), stopped: /requires .* in sum/ },
    { name: "nothing", instructions: withAmount(0n), stopped: /requires .* in sum/ },
    {
      name: "no allowance for rent",
      instructions: withAmount(guarded.estimates.threshold),
      stopped: /requires .* in sum/,
    },
    { name: "all that 64 bits hold", instructions: withAmount(2n ** 64n - 1n), stopped: /requires .* in sum/ },
    { name: "other decimals", instructions: data((bytes) => bytes.fill(6, 9)), stopped: /not one of wrapped SOL/ },
    { name: "another mint", instructions: account(1, USDC_MINT), stopped: /not one of wrapped SOL/ },
    { name: "an account that existed", instructions: instructions.with(at, existing), stopped: /does not create/ },
    { name: "to another account", instructions: account(2, own), stopped: /transfers tokens|calls the Token program/ },
    { name: "from another account", instructions: account(0, own), stopped: /calls the Token program/ },
    { name: "another authority", instructions: account(3, USDC_MINT), stopped: /another authority/ },
    { name: "another program", instructions: changed({ program: TOKEN_2022_PROGRAM }), stopped: /not one of wrapped/ },
    {
      name: "an account more",
      instructions: changed({ accounts: [...guard.accounts, readonly(USDC_MINT)] }),
      stopped: /calls the Token program/,
    },
    { name: "unchecked", instructions: data((bytes) => bytes.fill(3, 0, 1)), stopped: /calls the Token program/ },
    { name: "missing", instructions: instructions.toSpliced(at, 1), stopped: /yield at least .* together/ },
    { name: "twice", instructions: instructions.toSpliced(at, 0, guard), stopped: /repeats/ },
    {
      name: "before the last swap",
      instructions: instructions.toSpliced(at, 1).toSpliced(at - 1, 0, guard),
      stopped: /before all swaps/,
    },
    {
      name: "before the first swap",
      instructions: instructions.toSpliced(at, 1).toSpliced(first, 0, guard),
      stopped: /before all swaps/,
    },
    {
      name: "after the account is closed",
      instructions: instructions.toSpliced(at, 1).toSpliced(at + 1, 0, guard),
      stopped: /no longer has/,
    },
    {
      name: "closed before it and after",
      instructions: instructions.toSpliced(at, 0, closeTokenAccount(temporary, wallet, TOKEN_PROGRAM)),
      stopped: /repeats|no longer has/,
    },
    { name: "more rent than stated", instructions: funded(293n), stopped: /requires .* in sum/ },
    { name: "a gift to the account", instructions: funded(1n), stopped: /receives .* but needs/ },
    {
      name: "lamports before the account is initialized",
      instructions: instructions.toSpliced(opened + 1, 0, lamports(temporary)),
      stopped: /adds SOL to the temporary/,
    },
    {
      name: "lamports before the account is created",
      instructions: instructions.toSpliced(opened, 0, lamports(temporary)),
      stopped: /tips|more than the limit|announced/,
    },
    { name: "a swap without a minimum", instructions: looser, stopped: /may fall short by/ },
  ].filter(({ instructions: some }) => some !== instructions);
}

test("a quote's worst case is that of a build, with the guard and without", async () => {
  for (const { request, world } of sales) {
    const ports = world.ports();
    const quotePorts: QuotePorts = { ...ports, measureRoutes: (...asked) => measureRoutes(ports, ...asked) };
    const worstOf = async (totalGuard: boolean) => {
      const asked = { ...request, totalGuard, worstCase: true };
      const [built, quoted] = [await buildTrade(ports, asked), await quoteTrade(quotePorts, asked)];
      expect(quoted.route.map(({ market }) => market)).toEqual(built.route.map(({ market }) => market));
      expect(quoted.estimates.worstCase).toEqual(built.estimates.worstCase);
      return quoted.estimates.worstCase!.markets.map(({ bound }) => bound);
    };
    expect(await worstOf(true)).not.toEqual(await worstOf(false));
  }
});

test("a guard is made for callers that know it, on divided sales for SOL, and never where slippage is small", async () => {
  for (const { plain, guarded, request, world } of sales) {
    expect(guardAt(plain)).toBe(-1);
    expect(guarded.estimates).toEqual(plain.estimates);
    const asked = { ...request, totalGuard: true };
    expect(guardAt(await buildTrade(world.ports(), { ...asked, slippage: 0 }))).toBe(-1);
    expect(guardAt(await buildTrade(world.ports(), { ...asked, maxPaths: 1 }))).toBe(-1);
    const turned = { ...asked, inMint: SOL_MINT, outMint: request.inMint, amountRaw: "100000000000" };
    expect(guardAt(await buildTrade(world.ports(), turned))).toBe(-1);
  }
});
