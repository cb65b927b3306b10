import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { putAscii } from "../../primitives/bytes.ts";
import { createRandom, type Random } from "../../primitives/random.ts";
import {
  FilledInstruction,
  type Instruction,
  InstructionPattern,
  type PatternAccount,
  rightsOf,
} from "../instruction.ts";
import { compileMessage, type MessagePlan } from "../message.ts";
import { messageForm, messageTemplates } from "./message-template.ts";

const addressOf = (random: Random) => Address.from(random.bytes(32));

/** What a pattern of these tests is fixed to: each variant begins with another of the addresses. */
type Fixed = readonly Address[];

/** The accounts that a pattern names and how the data begins, drawn: fixed ones by place, own ones by number. */
function drawnPattern(
  random: Random,
  program: Address,
): { readonly pattern: InstructionPattern<Fixed>; readonly own: number } {
  const own = random.u32() % 4;
  const places = Array.from({ length: random.u32() % 5 }, () => random.u32() % 4);
  const numbers = Array.from({ length: own }, (_, number) => number);
  const order = [
    ...places.map((place) => ["fixed", place] as const),
    ...numbers.map((number) => ["own", number] as const),
  ]
    .map((named) => ({ named, rank: random.u32() }))
    .sort((a, b) => a.rank - b.rank);
  const repeated = order.length > 0 && random.chance(0.3) ? [...order, random.pick(order)] : order;
  const accounts = (fixed: Fixed, variant: number): readonly PatternAccount[] =>
    repeated.map(({ named: [kind, place] }) => (kind === "own" ? place : fixed[(place + variant) % fixed.length]!));
  const rights = `r${Array.from({ length: 5 }, () => random.pick([..."rw"])).join("")}`;
  const bytes = random.bytes(20);
  const amounts = random.pick([undefined, 1, 2] as const);
  const data = (variant: number) => bytes.map((byte) => byte ^ variant);
  const parts = { program, rights, accounts, data, amountsAt: 4 };
  const alone = random.chance(0.3) ? 1 : 0;
  // What it names in its data alone, and a text.
  const writeMore = (out: Uint8Array, at: number, { own: all, text }: FilledInstruction<Fixed>) => {
    if (alone === 1) out.set(all[own]!.bytes.subarray(0, 2), at);
    putAscii(out, at + 2, text.slice(0, 2));
  };
  const all = { ...parts, ...(amounts === undefined ? {} : { amounts }), ...(alone === 1 ? { writeMore } : {}) };
  return { pattern: new InstructionPattern<Fixed>(all), own: own + alone };
}

test("a message on a known layout is, to the byte, the one compiled from scratch, over 8,000 plans alike in all but some accounts", () => {
  const random = createRandom(211);
  let filled = 0;
  for (let round = 0; round < 160; round++) {
    const addresses = Array.from({ length: 3 + (random.u32() % 8) }, () => addressOf(random));
    const patterns = Array.from({ length: 1 + (random.u32() % 3) }, () => drawnPattern(random, random.pick(addresses)));
    const fixings = Array.from({ length: 2 }, () => Array.from({ length: 4 }, () => random.pick(addresses)));
    const account = () => (random.chance(0.6) ? addressOf(random) : random.pick(addresses));
    const kind = addressOf(random);
    for (let variant = 0; variant < 50; variant++) {
      const payer = account();
      const instructions = patterns.map(({ pattern, own }) => {
        const accounts = Array.from({ length: own }, () => (random.chance(0.2) ? payer : account()));
        const [first, second] = [random.bytes(8), random.bytes(8)].map((bytes) => Buffer.from(bytes).readBigUInt64LE());
        const text = Buffer.from(random.bytes(1)).toString("hex");
        return new FilledInstruction(pattern, random.pick(fixings), random.u32() % 2, accounts, first, second, text);
      });
      const plan: MessagePlan = { payer, instructions, blockhash: random.bytes(32), lookupTables: [] };
      const expected = compileMessage({ ...plan, instructions: instructions.map(written) });
      const templates = compileMessage({ ...plan, kind });
      if (Buffer.compare(templates, expected) !== 0) expect.fail(`round ${round}, variant ${variant}`);
      const none = addressOf(random);
      if (messageTemplates.fill(kind, plan, 0) !== undefined) filled += 1;
      expect(messageTemplates.fill(none, plan, 0)).toBeUndefined();
    }
  }
  expect(filled).toBeGreaterThan(3_000);
});

/** The instruction with its accounts and data written out. */
const written = ({ program, accounts, data }: Instruction): Instruction => ({ program, accounts, data });

test("accounts that all messages had so far are not written, until one has another: each message is the one compiled, over 3,000", () => {
  const random = createRandom(215);
  const [pool, program, kind] = [addressOf(random), addressOf(random), addressOf(random)];
  const pattern = new InstructionPattern<Address>({
    program,
    rights: "W r w",
    accounts: (fixed, _variant, own) => [0, fixed, ...Array.from({ length: own - 1 }, (_, further) => 1 + further)],
    data: () => new Uint8Array(8),
    amounts: 1,
  });
  const wallets = Array.from({ length: 3 }, () => addressOf(random));
  let arrays = Array.from({ length: 3 }, () => addressOf(random));
  let compiled = 0;
  for (let trade = 0; trade < 3_000; trade++) {
    // A price that moves on, and back at times.
    if (random.chance(0.01)) arrays = [...arrays.slice(1), random.pick([arrays[0]!, addressOf(random)])];
    const wallet = random.chance(0.9) ? wallets[0]! : random.pick([...wallets, ...arrays]);
    // An array that is the pool, or another one again.
    const named = random.chance(0.02) ? arrays.with(random.u32() % 3, random.pick([pool, ...arrays])) : arrays;
    const instruction = new FilledInstruction(pattern, pool, 0, [wallet, ...named], random.below(1n << 64n));
    const plan: MessagePlan = {
      payer: wallet,
      instructions: [instruction],
      blockhash: random.bytes(32),
      lookupTables: [],
    };
    const expected = compileMessage({ ...plan, instructions: [written(instruction)] });
    const template = messageTemplates.fill(kind, plan, 0);
    if (template === undefined) compiled += 1;
    for (const message of [template ?? expected, compileMessage({ ...plan, kind })])
      if (Buffer.compare(message, expected) !== 0) expect.fail(`trade ${trade}`);
  }
  expect(compiled).toBeLessThan(600);
});

test("an instruction without a pattern is laid out anew each time", () => {
  const random = createRandom(214);
  const [payer, program, kind] = [addressOf(random), addressOf(random), addressOf(random)];
  const instructions = [written({ program, accounts: [], data: random.bytes(4) })];
  const plan: MessagePlan = { payer, instructions, blockhash: random.bytes(32), lookupTables: [] };
  expect(compileMessage({ ...plan, kind })).toEqual(compileMessage(plan));
  expect(messageTemplates.fill(kind, plan, 0)).toBeUndefined();
});

test("accounts beyond the named rights have those of the last", () => {
  const random = createRandom(213);
  const [program, ...addresses] = Array.from({ length: 5 }, () => addressOf(random)) as [Address, ...Address[]];
  const pattern = new InstructionPattern<readonly Address[]>({
    program,
    rights: "W r w",
    accounts: (fixed) => fixed,
    data: () => new Uint8Array(0),
  });
  const { accounts } = new FilledInstruction(pattern, addresses, 0, []);
  expect(accounts.map(({ writable, signer }) => [writable, signer])).toEqual([
    [true, true],
    [false, false],
    [true, false],
    [true, false],
  ]);
  expect(() => rightsOf("rx")).toThrow(RangeError);
});

test("no message has bytes of an earlier one of its kind", () => {
  const random = createRandom(7);
  const [pool, program, kind] = [addressOf(random), addressOf(random), addressOf(random)];
  const pattern = new InstructionPattern<Address>({
    program,
    rights: "W w w",
    accounts: (fixed) => [0, fixed, 1],
    data: () => new Uint8Array(8),
    amountsAt: 0,
    amounts: 1,
  });
  const planOf = (wallet: Address): MessagePlan => ({
    payer: wallet,
    instructions: [new FilledInstruction(pattern, pool, 0, [wallet, addressOf(random)], random.below(1n << 64n))],
    blockhash: random.bytes(32),
    lookupTables: [],
  });
  const first = planOf(addressOf(random));
  compileMessage({ ...first, kind });
  for (let round = 0; round < 3; round++) {
    const message = Buffer.from(compileMessage({ ...planOf(addressOf(random)), kind }));
    const { payer, blockhash, instructions } = first;
    const own = [payer.bytes, blockhash, instructions[0]!.data, instructions[0]!.accounts[2]!.address.bytes];
    for (const bytes of own) expect(message.includes(Buffer.from(bytes))).toBe(false);
  }
});

test("only messages of the same form are tried, and one layout may serve several forms", () => {
  const random = createRandom(8);
  const [pool, program] = [addressOf(random), addressOf(random)];
  const [kind, wallet] = [addressOf(random), addressOf(random)];
  const pattern = new InstructionPattern<Address>({
    program,
    rights: "W w",
    accounts: (fixed) => [0, fixed],
    data: () => new Uint8Array(4),
  });
  const planOf = (count: number, form?: number): MessagePlan => ({
    payer: wallet,
    instructions: Array.from({ length: count }, () => new FilledInstruction(pattern, pool, 0, [wallet])),
    blockhash: random.bytes(32),
    lookupTables: [],
    kind,
    form,
  });
  const isKnown = (count: number, form?: number) => messageTemplates.fill(kind, planOf(count, form), 0) !== undefined;
  compileMessage(planOf(1));
  compileMessage(planOf(2, messageForm(true, true)));
  expect([isKnown(1), isKnown(1, 0), isKnown(2, 3)]).toEqual([true, true, true]);
  expect([isKnown(2), isKnown(1, 3), isKnown(1, 1)]).toEqual([false, false, false]);
  compileMessage(planOf(1, messageForm(false, true)));
  expect([isKnown(1), isKnown(1, 1), isKnown(2, 3)]).toEqual([true, true, true]);
});
