import { Address } from "../../../src/primitives/address.ts";
import { concatBytes, writeU32, writeU64 } from "../../../src/primitives/bytes.ts";
import { type Instruction, readonly, writable } from "../../../src/solana/instruction.ts";
import { SIGNATURE_SIZE } from "../../../src/solana/message.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../../../src/solana/programs.ts";
import { type Attack, thefts } from "./attacks.ts";
import { formAttacks } from "./form-attacks.ts";
import type { HonestBuild } from "./honest-builds.ts";
import { asVersion1, version1Of, wireOfVersion1 } from "./version-1.ts";

const STRANGER = Address.from(new Uint8Array(32).fill(0x66));
/** Where the parts of a version 1 message begin. */
const REQUIRED_AT = 1;
const READONLY_SIGNED_AT = 2;
const READONLY_UNSIGNED_AT = 3;
const MASK_AT = 4;
const INSTRUCTIONS_AT = 40;
const KEYS_AT = 41;
const ADDRESSES_AT = 42;

/** Each theft and each attack by form, in a version 1 message. What stops it is what stops it in version 0, or the header. */
export function attacksInVersion1(build: HonestBuild): Attack[] {
  return [...thefts(build), ...formAttacks(build)].map((attack) => ({
    ...attack,
    name: `${attack.name}, in version 1`,
    // Budget instructions become the header, so that the words of the check may be others.
    stopped: /./,
    wire: asVersion1(attack.wire!),
  }));
}

/** Attacks by what only version 1 has: a header with the budget, signatures at the end, no lookup tables. */
export function headerAttacks(build: HonestBuild): Attack[] {
  const honest = asVersion1(build.wire);
  const { plan, budget } = version1Of(build.wire);
  const keys = honest[KEYS_AT]!;
  const feeAt = ADDRESSES_AT + 32 * keys;
  const unitsAt = feeAt + 8;
  const loadedAt = unitsAt + 4;
  const headsAt = loadedAt + 4;
  const attack = (name: string, takes: string, stopped: RegExp, wire: Uint8Array, answer?: object): Attack => ({
    name: `version 1: ${name}`,
    takes,
    stopped,
    wire,
    ...(answer === undefined ? {} : { answer }),
  });
  const changed = (change: (bytes: Uint8Array) => void): Uint8Array => {
    const bytes = honest.slice();
    change(bytes);
    return bytes;
  };
  const without = (from: number, length: number, mask: number): Uint8Array => {
    const bytes = concatBytes(honest.subarray(0, from), honest.subarray(from + length));
    writeU32(bytes, MASK_AT, mask);
    return bytes;
  };
  const withHeader = (at: number, value: Uint8Array, mask: number): Uint8Array => {
    const bytes = concatBytes(honest.subarray(0, at), value, honest.subarray(at));
    writeU32(bytes, MASK_AT, mask);
    return bytes;
  };
  const call = (data: Uint8Array): Instruction => ({ program: COMPUTE_BUDGET_PROGRAM, accounts: [], data });
  const u32 = (tag: number, value: number) => {
    const bytes = Uint8Array.of(tag, 0, 0, 0, 0);
    writeU32(bytes, 1, value);
    return bytes;
  };
  const price = (microLamports: bigint) => {
    const bytes = Uint8Array.of(3, ...new Uint8Array(8));
    writeU64(bytes, 1, microLamports);
    return bytes;
  };
  const beside = (...more: Instruction[]) =>
    wireOfVersion1({ ...plan, instructions: [...more, ...plan.instructions] }, budget);
  const unreadable = /cannot be read/;
  const fee = (lamports: bigint) => wireOfVersion1(plan, { ...budget, priorityFeeLamports: lamports });
  const announced = (lamports: bigint) => ({
    priorityCost: Number(lamports) / 1e9,
    costs: { ...build.answer.costs, priorityFee: lamports.toString() },
  });
  const first = plan.instructions.at(-1)!;
  return [
    attack("a priority fee of everything", "every lamport", /more than the limit/, fee(2n ** 64n - 1n)),
    attack(
      "an announced fee above the cap",
      "0.05 SOL",
      /more than the limit/,
      fee(49_000_000n),
      announced(49_000_000n),
    ),
    attack("a fee one lamport above the announced one", "it", /announced/, fee(budget.priorityFeeLamports + 1n)),
    attack(
      "a price beside the fee of the header",
      "a second fee",
      /priority fee twice/,
      beside(call(price(10n ** 9n))),
    ),
    attack(
      "a unit limit beside that of the header",
      "a limit nobody reads",
      /budget by instruction/,
      beside(call(u32(2, 1_400_000))),
    ),
    attack(
      "a loaded limit beside that of the header",
      "a limit nobody reads",
      /budget by instruction/,
      beside(call(u32(4, 1 << 26))),
    ),
    attack(
      "a unit limit of nothing",
      "the priority fee",
      /too low/,
      wireOfVersion1(plan, { ...budget, computeUnitLimit: 0 }),
    ),
    attack(
      "a unit limit no swap fits",
      "the priority fee",
      /too low/,
      wireOfVersion1(plan, { ...budget, computeUnitLimit: 9_999 }),
    ),
    attack(
      "a loaded limit of nothing",
      "the priority fee",
      /too low/,
      wireOfVersion1(plan, { ...budget, loadedBytesLimit: 0 }),
    ),
    attack(
      "no unit limit",
      "the priority fee of a trade without units",
      /states no limit/,
      without(unitsAt, 4, 0b1011),
    ),
    attack("no loaded limit", "the fee of the largest", /states no limit/, without(loadedAt, 4, 0b0111)),
    attack("a fee that is not stated, but announced", "the owner's judgement", /announced/, without(feeAt, 8, 0b1100)),
    attack(
      "half a fee: the first bit alone",
      "another reading of what follows",
      unreadable,
      changed((at) => writeU32(at, MASK_AT, 0b1101)),
    ),
    attack(
      "half a fee: the second bit alone",
      "another reading of what follows",
      unreadable,
      changed((at) => writeU32(at, MASK_AT, 0b1110)),
    ),
    attack(
      "a heap in the header",
      "compute units",
      /larger heap/,
      withHeader(headsAt, Uint8Array.of(0, 0, 4, 0), 0b11111),
    ),
    attack(
      "an unknown setting in the header",
      "what a later version makes of it",
      unreadable,
      withHeader(headsAt, Uint8Array.of(0, 0, 4, 0), 0b101111),
    ),
    attack(
      "the highest bit of the mask",
      "what a later version makes of it",
      unreadable,
      changed((at) => writeU32(at, MASK_AT, 0x8000_000f)),
    ),
    attack(
      "two signers",
      "a second signature",
      /requires 2 signatures|signature slots|cannot be read/,
      concatBytes(
        changed((at) => {
          at[REQUIRED_AT] = 2;
        }),
        new Uint8Array(SIGNATURE_SIZE),
      ),
    ),
    attack(
      "no signer",
      "a transaction of nobody",
      /signatures|pays the fee|cannot be read/,
      changed((at) => {
        at[REQUIRED_AT] = 0;
      }).subarray(0, honest.length - SIGNATURE_SIZE),
    ),
    attack(
      "a read-only payer",
      "the fee of a failing transaction",
      /fee payer is read-only/,
      changed((at) => {
        at[READONLY_SIGNED_AT] = 1;
      }),
    ),
    attack(
      "more read-only signers than signers",
      "another reading of rights",
      unreadable,
      changed((at) => {
        at[READONLY_SIGNED_AT] = 2;
      }),
    ),
    attack(
      "everything writable",
      "write locks nobody explains",
      /writable/,
      changed((at) => {
        at[READONLY_UNSIGNED_AT] = 0;
      }),
    ),
    attack(
      "everything read-only",
      "the fee of a failing transaction",
      /not writable/,
      changed((at) => {
        at[READONLY_UNSIGNED_AT] = keys - 1;
      }),
    ),
    attack(
      "a signature already there",
      "a signature of somebody else",
      /already contains a signature/,
      changed((at) => {
        at[honest.length - 1] = 1;
      }),
    ),
    attack(
      "a signature in front, as in version 0",
      "another reading",
      unreadable,
      concatBytes(Uint8Array.of(1), new Uint8Array(SIGNATURE_SIZE), honest.subarray(0, honest.length - SIGNATURE_SIZE)),
    ),
    attack(
      "no place for the signature",
      "the last instruction",
      unreadable,
      honest.slice(0, honest.length - SIGNATURE_SIZE),
    ),
    attack(
      "bytes after the end",
      "what a later version makes of them",
      unreadable,
      concatBytes(honest, Uint8Array.of(0)),
    ),
    attack(
      "an instruction fewer than listed",
      "another reading",
      unreadable,
      changed((at) => {
        at[INSTRUCTIONS_AT] = at[INSTRUCTIONS_AT]! - 1;
      }),
    ),
    attack(
      "an instruction more than listed",
      "another reading",
      unreadable,
      changed((at) => {
        at[INSTRUCTIONS_AT] = at[INSTRUCTIONS_AT]! + 1;
      }),
    ),
    attack(
      "an address fewer than listed",
      "another reading",
      unreadable,
      changed((at) => {
        at[KEYS_AT] = keys - 1;
      }),
    ),
    attack(
      "the wallet listed twice",
      "rights through a second entry",
      /lists an account twice/,
      changed((at) => at.copyWithin(ADDRESSES_AT + 32, ADDRESSES_AT, ADDRESSES_AT + 32)),
    ),
    attack(
      "another wallet first",
      "the wallet's part of the trade",
      /another account pays/,
      changed((at) => at.set(STRANGER.bytes, ADDRESSES_AT)),
    ),
    attack(
      "the wallet as a program",
      "what a loader makes of it",
      /unknown program/,
      changed((at) => {
        at[headsAt] = 0;
      }),
    ),
    attack(
      "an instruction without data and accounts",
      "an account nobody explains",
      /unknown program/,
      beside({ program: STRANGER, accounts: [], data: new Uint8Array(0) }),
    ),
    attack(
      "the last instruction twice",
      "an account closed twice",
      /./,
      wireOfVersion1({ ...plan, instructions: [...plan.instructions, first] }, budget),
    ),
    attack(
      "the swap alone",
      "wrapped SOL",
      /./,
      wireOfVersion1(
        { ...plan, instructions: plan.instructions.filter(({ accounts }) => accounts.length > 8) },
        budget,
      ),
    ),
    attack(
      "an account that nothing uses",
      "a write lock",
      /accounts instead of|unknown|calls/,
      wireOfVersion1(
        {
          ...plan,
          instructions: [
            ...plan.instructions.slice(0, -1),
            { ...first, accounts: [...first.accounts, writable(STRANGER), readonly(COMPUTE_BUDGET_PROGRAM)] },
          ],
        },
        budget,
      ),
    ),
    attack(
      "version 2",
      "what a later version makes of it",
      unreadable,
      changed((at) => {
        at[0] = 0x82;
      }),
    ),
    attack(
      "version 127",
      "what a later version makes of it",
      unreadable,
      changed((at) => {
        at[0] = 0xff;
      }),
    ),
    attack(
      "version 0 in its place",
      "another reading",
      unreadable,
      changed((at) => {
        at[0] = 0x80;
      }),
    ),
    attack(
      "the bytes of version 0 behind its number",
      "another reading",
      unreadable,
      concatBytes(Uint8Array.of(0x81), build.wire.subarray(1)),
    ),
    attack("more than 4,096 bytes", "processor time", /bytes long/, concatBytes(honest, new Uint8Array(4_096))),
  ];
}
