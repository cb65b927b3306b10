import { expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { concatBytes, writeU32, writeU64 } from "../../primitives/bytes.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../solana/programs.ts";
import { readBaseInstruction } from "./base-instruction.ts";
import type { MessageInstruction } from "./read-transaction.ts";

const address = (byte: number) => Address.from(new Uint8Array(32).fill(byte));
const account = (byte: number, at = address(byte)) => ({ index: byte, address: at, signer: false, writable: true });
const [wallet, other, third, fourth] = [account(1), account(2), account(3), account(4)];
const [system, token] = [account(5, SYSTEM_PROGRAM), account(6, TOKEN_PROGRAM)];
const u32 = (value: number) => {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
};
const u64 = (value: bigint) => {
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, value);
  return bytes;
};
const seeded = (seed: Uint8Array) =>
  concatBytes(u32(3), address(7).bytes, u64(BigInt(seed.length)), seed, u64(8n), u64(165n), TOKEN_PROGRAM.bytes);

type Form = readonly [program: Address, accounts: MessageInstruction["accounts"], data: Uint8Array, read: object];
const budget = (data: Uint8Array, read: object): Form => [COMPUTE_BUDGET_PROGRAM, [], data, read];
const withSeed = (length: number): Form => {
  const seed = new Uint8Array(length).fill(9);
  const read = {
    payer: wallet,
    account: other,
    base: address(7),
    seed,
    lamports: 8n,
    space: 165n,
    owner: TOKEN_PROGRAM,
  };
  return [SYSTEM_PROGRAM, [wallet, other], seeded(seed), { kind: "createWithSeed", ...read }];
};

/** Every form that a trade contains, and what is read of it. */
const FORMS: readonly Form[] = [
  budget(concatBytes(Uint8Array.of(2), u32(70_000)), { kind: "computeUnitLimit", units: 70_000 }),
  budget(concatBytes(Uint8Array.of(3), u64(5n)), { kind: "computeUnitPrice", microLamports: 5n }),
  budget(concatBytes(Uint8Array.of(4), u32(600_000)), { kind: "loadedAccountsLimit", bytes: 600_000 }),
  [
    SYSTEM_PROGRAM,
    [wallet, other],
    concatBytes(u32(2), u64(5n)),
    { kind: "transferLamports", from: wallet, to: other, lamports: 5n },
  ],
  withSeed(0),
  withSeed(10),
  withSeed(32),
  [
    TOKEN_PROGRAM,
    [wallet, other],
    concatBytes(Uint8Array.of(18), address(8).bytes),
    { kind: "initializeTokenAccount", account: wallet, mint: other.address, owner: address(8) },
  ],
  [TOKEN_PROGRAM, [wallet], Uint8Array.of(17), { kind: "syncWrappedSol", account: wallet }],
  [
    TOKEN_2022_PROGRAM,
    [wallet, other, third],
    Uint8Array.of(9),
    { kind: "closeTokenAccount", account: wallet, to: other, authority: third, tokenProgram: TOKEN_2022_PROGRAM },
  ],
  [
    TOKEN_PROGRAM,
    [wallet, other, wallet, fourth],
    concatBytes(Uint8Array.of(12), u64(5n), Uint8Array.of(9)),
    {
      kind: "requireBalance",
      account: wallet,
      mint: other.address,
      authority: fourth,
      tokenProgram: TOKEN_PROGRAM,
      amount: 5n,
      decimals: 9,
    },
  ],
  [
    ASSOCIATED_TOKEN_PROGRAM,
    [wallet, other, third, fourth, system, token],
    Uint8Array.of(1),
    {
      kind: "createTokenAccount",
      payer: wallet,
      account: other,
      owner: third.address,
      mint: fourth.address,
      tokenProgram: TOKEN_PROGRAM,
    },
  ],
];

test("an instruction is read in its known form, and in no other: no byte or account more or less, no other number", () => {
  for (const [program, accounts, data, read] of FORMS) {
    expect(readBaseInstruction({ program, accounts, data })).toEqual(read);
    const isRead = (changes: Partial<MessageInstruction>) =>
      readBaseInstruction({ program, accounts, data, ...changes }) !== undefined;
    const other = [
      isRead({ data: concatBytes(data, Uint8Array.of(0)) }),
      isRead({ data: data.subarray(0, -1) }),
      isRead({ data: new Uint8Array() }),
      isRead({ data: data.with(0, 100) }),
      isRead({ accounts: [...accounts, fourth] }),
      accounts.length > 0 && isRead({ accounts: accounts.slice(0, -1) }),
      accounts.length > 0 && isRead({ accounts: [] }),
    ];
    expect(other, (read as { kind: string }).kind).toEqual(Array(7).fill(false));
  }
});

test("a seed is of 32 bytes at most, and as long as it says", () => {
  const read = (data: Uint8Array) => readBaseInstruction({ program: SYSTEM_PROGRAM, accounts: [wallet, other], data });
  expect(read(seeded(new Uint8Array(33)))).toBeUndefined();
  const longer = seeded(new Uint8Array(10));
  writeU64(longer, 36, 11n);
  expect(read(longer)).toBeUndefined();
});

test("a transfer to another account, and an account made by another program, are not of a trade", () => {
  const transfer = concatBytes(Uint8Array.of(12), u64(5n), Uint8Array.of(9));
  const accounts = [wallet, other, third, fourth];
  expect(readBaseInstruction({ program: TOKEN_PROGRAM, accounts, data: transfer })).toBeUndefined();
  const created = [wallet, other, third, fourth, token, token];
  const create = { program: ASSOCIATED_TOKEN_PROGRAM, accounts: created, data: Uint8Array.of(1) };
  expect(readBaseInstruction(create)).toBeUndefined();
  expect(readBaseInstruction({ program: address(9), accounts, data: transfer })).toBeUndefined();
});
