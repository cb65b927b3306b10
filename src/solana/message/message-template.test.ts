import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { createRandom, type Random } from "../../primitives/random.ts";
import { FlatInstruction, type Instruction, rightsOf } from "../instruction.ts";
import { compileMessage, type MessagePlan } from "../message.ts";

const addressOf = (random: Random) => Address.from(random.bytes(32));

/** A plan whose accounts are drawn from few addresses, so that the same ones meet in different places. */
function randomPlan(random: Random, addresses: readonly Address[]): MessagePlan {
  const payer = random.pick(addresses);
  const instructions = Array.from(
    { length: 1 + (random.u32() % 3) },
    (): Instruction => ({
      program: random.pick(addresses),
      accounts: Array.from({ length: random.u32() % 6 }, () => {
        const address = random.pick(addresses);
        return { address, writable: random.chance(0.5), signer: address === payer && random.chance(0.8) };
      }),
      data: random.bytes(random.u32() % 3),
    }),
  );
  return { payer, instructions, blockhash: random.bytes(32), lookupTables: [] };
}

/** The plan with some of its accounts, its payer, rights, programs or data changed. */
function changed(plan: MessagePlan, random: Random, addresses: readonly Address[]): MessagePlan {
  const other = () => (random.chance(0.5) ? random.pick(addresses) : addressOf(random));
  const swaps = new Map<Address, Address>();
  for (const address of addresses) if (random.chance(0.3)) swaps.set(address, other());
  const rename = (address: Address) => (random.chance(0.02) ? other() : (swaps.get(address) ?? address));
  const keepsPrograms = random.chance(0.8);
  const payer = rename(plan.payer);
  const instructions = plan.instructions.map(({ program, accounts, data }) => ({
    program: keepsPrograms ? program : rename(program),
    accounts: accounts.map(({ address, writable, signer }) => ({
      address: rename(address),
      writable: random.chance(0.02) ? !writable : writable,
      signer,
    })),
    data: random.bytes(random.chance(0.02) ? data.length + 1 : data.length),
  }));
  return { ...plan, payer, instructions, blockhash: random.bytes(32) };
}

/** The plan with its addresses by number. */
function describe({ payer, instructions }: MessagePlan): string {
  const numbers = new Map<Address, number>();
  const numberOf = (address: Address) => numbers.set(address, numbers.get(address) ?? numbers.size).get(address);
  const shown = instructions.map(({ program, accounts }) => [
    numberOf(program),
    accounts.map(({ address, writable, signer }) => `${numberOf(address)}${writable ? "w" : ""}${signer ? "s" : ""}`),
  ]);
  return JSON.stringify([numberOf(payer), shown]);
}

test("a message on a known layout is, to the byte, the one compiled from scratch, over 4,000 plans alike in all but some accounts", () => {
  const random = createRandom(211);
  for (let round = 0; round < 80; round++) {
    const addresses = Array.from({ length: 2 + (random.u32() % 8) }, () => addressOf(random));
    const kind = addressOf(random);
    const plan = randomPlan(random, addresses);
    for (let variant = 0; variant < 50; variant++) {
      const next = changed(plan, random, addresses);
      if (Buffer.compare(compileMessage({ ...next, kind }), compileMessage(next)) !== 0) expect.fail(describe(next));
    }
  }
});

/** The same with its accounts in lists. */
function flattened({ program, accounts, data }: Instruction): Instruction {
  const rights = accounts.map(({ writable, signer }) => (signer ? (writable ? "W" : "R") : writable ? "w" : "r"));
  return new FlatInstruction(
    program,
    accounts.map(({ address }) => address),
    rightsOf(rights.join("")),
    data,
  );
}

test("instructions with their accounts in lists give the same messages, on known layouts and on new ones", () => {
  const random = createRandom(212);
  for (let round = 0; round < 80; round++) {
    const addresses = Array.from({ length: 2 + (random.u32() % 8) }, () => addressOf(random));
    const kind = addressOf(random);
    const plan = randomPlan(random, addresses);
    for (let variant = 0; variant < 25; variant++) {
      const next = changed(plan, random, addresses);
      const flat = { ...next, instructions: next.instructions.map(flattened) };
      expect(flat.instructions.map(({ accounts }) => accounts)).toEqual(
        next.instructions.map(({ accounts }) => accounts),
      );
      const expected = compileMessage(next);
      if (Buffer.compare(compileMessage(flat), expected) !== 0) expect.fail(describe(next));
      if (Buffer.compare(compileMessage({ ...flat, kind }), expected) !== 0) expect.fail(describe(next));
    }
  }
});

test("accounts beyond the named rights have those of the last", () => {
  const random = createRandom(213);
  const [program, ...addresses] = Array.from({ length: 5 }, () => addressOf(random)) as [Address, ...Address[]];
  const { accounts } = new FlatInstruction(program, addresses, rightsOf("W r w"), new Uint8Array(0));
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
  const planOf = (wallet: Address): MessagePlan => ({
    payer: wallet,
    instructions: [
      {
        program,
        accounts: [
          { address: wallet, writable: true, signer: true },
          { address: pool, writable: true, signer: false },
          { address: addressOf(random), writable: true, signer: false },
        ],
        data: random.bytes(16),
      },
    ],
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
