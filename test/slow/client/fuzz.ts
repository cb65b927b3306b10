import { describeProblem } from "../../../src/client/verify/problem.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { expectTrade } from "../../../src/client/verify/trade-expectation.ts";
import { findProblems } from "../../../src/client/verify/verification.ts";
import { Address } from "../../../src/primitives/address.ts";
import { writeU64 } from "../../../src/primitives/bytes.ts";
import type { Random } from "../../../src/primitives/random.ts";
import type { Instruction } from "../../../src/solana/instruction.ts";
import { SOL_MINT, SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../../src/solana/programs.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { type Plan, planOf } from "./mutations.ts";
import { wireLike } from "./version-1.ts";

const STRANGER = Address.from(new Uint8Array(32).fill(0x66));
const TIP_ACCOUNT = Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5");

/**
 * A random change of an honest build: of its bytes, of its instructions, of the answer that announces it, or of both at once.
 * @param others honest builds whose instructions and accounts may be grafted in
 */
export function mutate<B extends HonestBuild>(random: Random, build: B, others: readonly HonestBuild[] = []): B {
  const kind = random.pick(["bytes", "bytes", "plan", "plan", "plan", "graft", "answer", "both"] as const);
  const answer = kind === "answer" || kind === "both" ? changedAnswer(random, build.answer) : build.answer;
  if (kind === "answer") return { ...build, answer };
  try {
    if (kind === "bytes") return { ...build, answer, wire: changedBytes(random, build.wire) };
    const plan = planOf(build.wire);
    const from = kind === "graft" && others.length > 0 ? planOf(random.pick(others).wire) : undefined;
    const changed = from === undefined ? changedPlan(random, plan) : grafted(random, plan, from);
    return { ...build, answer, wire: wireLike(build.wire, changed) };
  } catch {
    // Versions and tables that the compiler of plans does not write are changed byte by byte.
    return { ...build, answer, wire: changedBytes(random, build.wire) };
  }
}

/** An instruction, or accounts, of another honest transaction in this one: for its wallet, or for this one. */
function grafted(random: Random, plan: Plan, from: Plan): Plan {
  const asOwn = random.chance(0.5);
  const accountsOf = (accounts: Instruction["accounts"]) =>
    accounts.map((one) => (asOwn && one.address === from.payer ? { ...one, address: plan.payer } : one));
  const graft = random.pick(from.instructions);
  const instruction = { ...graft, accounts: accountsOf(graft.accounts) };
  const at = Number(random.below(BigInt(plan.instructions.length)));
  const isWhole = random.chance(0.6);
  if (isWhole)
    return { ...plan, instructions: plan.instructions.toSpliced(at, random.chance(0.5) ? 1 : 0, instruction) };
  const own = plan.instructions[at]!;
  const shared = Math.min(own.accounts.length, instruction.accounts.length);
  const first = Number(random.below(BigInt(shared + 1)));
  const accounts = own.accounts.map((one, place) =>
    place >= first && place < shared ? instruction.accounts[place]! : one,
  );
  return { ...plan, instructions: plan.instructions.with(at, { ...own, accounts }) };
}

function changedBytes(random: Random, wire: Uint8Array): Uint8Array {
  const bytes = wire.slice();
  for (let changes = Number(random.between(1n, 3n)); changes > 0; changes--) {
    const at = Number(random.below(BigInt(bytes.length)));
    if (random.chance(0.5)) bytes[at]! ^= 1 << Number(random.below(8n));
    else bytes[at] = random.chance(0.5) ? Number(random.below(256n)) : random.pick([0, 1, 2, 0x80, 0xff]);
  }
  return bytes;
}

function changedPlan(random: Random, plan: Plan): Plan {
  const instructions = [...plan.instructions];
  const accounts = instructions.flatMap((one) => one.accounts);
  for (let changes = Number(random.between(1n, 3n)); changes > 0; changes--) {
    const at = Number(random.below(BigInt(instructions.length)));
    const one = instructions[at]!;
    const kind = random.pick([
      "account",
      "account",
      "rights",
      "number",
      "number",
      "data",
      "repeat",
      "drop",
      "move",
      "transfer",
      "program",
    ] as const);
    if (kind === "repeat") instructions.splice(Number(random.below(BigInt(instructions.length + 1))), 0, one);
    else if (kind === "drop" && instructions.length > 1) instructions.splice(at, 1);
    else if (kind === "move")
      instructions.splice(Number(random.below(BigInt(instructions.length))), 0, ...instructions.splice(at, 1));
    else if (kind === "transfer") instructions.splice(at, 0, transferOf(random, plan.payer));
    else if (kind === "program")
      instructions[at] = {
        ...one,
        program: random.pick([TOKEN_PROGRAM, SYSTEM_PROGRAM, STRANGER, ...instructions.map(({ program }) => program)]),
      };
    else if (kind === "data")
      instructions[at] = { ...one, data: one.data.length === 0 ? Uint8Array.of(1) : changedBytes(random, one.data) };
    else if (kind === "number") instructions[at] = withNumber(random, one);
    else if (one.accounts.length > 0) {
      const place = Number(random.below(BigInt(one.accounts.length)));
      const old = one.accounts[place]!;
      const other = random.chance(0.2)
        ? { ...old, address: random.pick([STRANGER, SOL_MINT, plan.payer]) }
        : { ...old, address: random.pick(accounts).address };
      const next =
        kind === "rights"
          ? { ...old, writable: !old.writable }
          : { ...other, signer: other.address === plan.payer && old.signer };
      instructions[at] = { ...one, accounts: one.accounts.toSpliced(place, 1, next) };
    }
  }
  return { ...plan, instructions };
}

function transferOf(random: Random, payer: Address): Instruction {
  const data = new Uint8Array(12);
  data[0] = 2;
  writeU64(data, 4, random.magnitude(10n ** 12n));
  const to = random.pick([STRANGER, TIP_ACCOUNT, payer]);
  return {
    program: SYSTEM_PROGRAM,
    accounts: [
      { address: payer, signer: true, writable: true },
      { address: to, signer: to === payer, writable: true },
    ],
    data,
  };
}

/** An amount of an instruction, a little or far away from what it was. */
function withNumber(random: Random, one: Instruction): Instruction {
  if (one.data.length < 8) return one;
  const data = one.data.slice();
  const at = Number(random.below(BigInt(data.length - 7)));
  const value = new DataView(data.buffer, data.byteOffset).getBigUint64(at, true);
  const next = random.pick([
    value + 1n,
    value - 1n,
    value * 2n,
    value / 2n,
    0n,
    2n ** 64n - 1n,
    random.magnitude(10n ** 15n),
  ]);
  writeU64(data, at, BigInt.asUintN(64, next));
  return { ...one, data };
}

function changedAnswer(random: Random, answer: HonestBuild["answer"]): HonestBuild["answer"] {
  const estimates = answer.estimates!;
  const factor = random.pick([0, 0.1, 0.5, 0.999, 1.001, 2, 10, 1e3, 1e9]);
  const raw = (text: string) => `${(BigInt(text) * BigInt(Math.round(factor * 1e6))) / 1_000_000n}`;
  const [first, ...rest] = answer.route;
  return random.pick<HonestBuild["answer"]>([
    { ...answer, priorityCost: answer.priorityCost * factor },
    { ...answer, estimates: { ...estimates, outputAmount: estimates.outputAmount * factor } },
    { ...answer, estimates: { ...estimates, inputAmount: estimates.inputAmount * factor } },
    {
      ...answer,
      estimates: {
        ...estimates,
        outputAmountRaw: raw(estimates.outputAmountRaw),
        outputAmount: estimates.outputAmount * factor,
      },
    },
    {
      ...answer,
      estimates: {
        ...estimates,
        inputAmountRaw: raw(estimates.inputAmountRaw),
        inputAmount: estimates.inputAmount * factor,
      },
    },
    { ...answer, costs: { ...answer.costs!, tip: random.magnitude(10n ** 9n).toString() } },
    { ...answer, costs: { ...answer.costs!, rentPaid: random.magnitude(10n ** 10n).toString() } },
    { ...answer, route: [{ ...first!, market: STRANGER.toString() }, ...rest] },
    { ...answer, platform: `${answer.platform}+`, route: [...answer.route, ...answer.route] },
    { ...answer, outputMint: answer.inputMint },
  ]);
}

/** What the client refuses; undefined if it would sign. */
export function refusalOf({ wallet, order, answer, decimals, wire, lookupTables }: HonestBuild): string | undefined {
  try {
    const expected = expectTrade(wallet, order, answer, { decimals }, "caller");
    const problems = findProblems(readTransaction(wire, lookupTables), expected);
    return problems.length === 0 ? undefined : describeProblem(problems[0]!);
  } catch (error) {
    return (error as Error).message;
  }
}
