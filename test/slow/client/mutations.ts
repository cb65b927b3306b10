import { tokenAccountAddress } from "../../../src/client/verify/derived-address.ts";
import { findSwapTable } from "../../../src/client/verify/match-swap.ts";
import { readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { Address } from "../../../src/primitives/address.ts";
import { parseAmount } from "../../../src/primitives/amount.ts";
import { equalBytes, writeU32, writeU64 } from "../../../src/primitives/bytes.ts";
import {
  type AccountMeta,
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../../src/solana/instruction.ts";
import { compileMessage, type LookupTable, unsignedTransaction } from "../../../src/solana/message.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SOL_MINT,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../src/solana/programs.ts";
import type { HonestBuild } from "./honest-builds.ts";

/** A message as its instructions. */
export interface Plan {
  readonly payer: Address;
  readonly instructions: readonly Instruction[];
  readonly blockhash: Uint8Array;
}

/** A hostile transaction, with what was done to the honest one. */
export interface Hostile {
  readonly name: string;
  readonly wire: Uint8Array;
  readonly lookupTables?: ReadonlyMap<Address, readonly Address[]>;
}

const STRANGER = Address.from(new Uint8Array(32).fill(0x66));
const STRANGERS_PROGRAM = Address.from(new Uint8Array(32).fill(0x77));
const TIP_ACCOUNT = Address.of("96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5");
const TABLE = Address.from(new Uint8Array(32).fill(0x55));
const RECENT_BLOCKHASHES = Address.of("SysvarRecentB1ockHashes11111111111111111111");

/** The instructions of a wire transaction. */
export function planOf(wire: Uint8Array): Plan {
  const { accounts, instructions, message } = readTransaction(wire);
  const at = message[0] === 0x81 ? 8 : 5 + 32 * message[4]!;
  return {
    payer: accounts[0]!.address,
    blockhash: message.slice(at, at + 32),
    instructions: instructions.map(({ program, accounts: named, data }) => ({
      program,
      data: data.slice(),
      accounts: named.map(({ address, signer, writable: writes }) => ({ address, signer, writable: writes })),
    })),
  };
}

/** The wire transaction of instructions, through the service's own compiler. */
export function wireOf(plan: Plan, lookupTables: readonly LookupTable[] = []): Uint8Array {
  return unsignedTransaction(compileMessage({ ...plan, lookupTables }));
}

/** Every hostile form of an honest build that this file knows how to make. */
export function hostileForms(build: HonestBuild): Hostile[] {
  const plan = planOf(build.wire);
  return [
    ...additions(plan, build),
    ...swapChanges(plan, build),
    ...accountSubstitutions(plan, build),
    ...surroundingChanges(plan, build),
    ...budgetChanges(plan),
    ...messageChanges(plan, build),
  ];
}

const bytesOf = (...parts: readonly (number | bigint | Uint8Array | Address)[]): Uint8Array => {
  const out: number[] = [];
  for (const part of parts) {
    if (typeof part === "number") out.push(part);
    else if (typeof part === "bigint") {
      const bytes = new Uint8Array(8);
      writeU64(bytes, 0, part);
      out.push(...bytes);
    } else out.push(...(part instanceof Address ? part.bytes : part));
  }
  return Uint8Array.from(out);
};
const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  writeU32(bytes, 0, value);
  return bytes;
};

/** Instructions that have no business in a trade, before and after the honest ones. */
function additions(plan: Plan, { wallet, order }: HonestBuild): Hostile[] {
  const inMint = Address.of(order.inputMint);
  const source = tokenAccountAddress(wallet, inMint, TOKEN_PROGRAM);
  const strangers = tokenAccountAddress(STRANGER, inMint, TOKEN_PROGRAM);
  const system = (accounts: readonly AccountMeta[], data: Uint8Array): Instruction => ({
    program: SYSTEM_PROGRAM,
    accounts,
    data,
  });
  const token = (
    program: Address,
    accounts: readonly AccountMeta[],
    ...data: (number | bigint | Address)[]
  ): Instruction => ({
    program,
    accounts,
    data: bytesOf(...data),
  });
  const payer = writableSigner(wallet);
  const owner = readonlySigner(wallet);
  const extra: Record<string, Instruction> = {
    "SOL transfer to a stranger": system([payer, writable(STRANGER)], bytesOf(u32(2), 1n)),
    "large SOL transfer to a stranger": system([payer, writable(STRANGER)], bytesOf(u32(2), 10n ** 10n)),
    "SOL transfer to oneself": system([payer, payer], bytesOf(u32(2), 1n)),
    "unannounced tip": system([payer, writable(TIP_ACCOUNT)], bytesOf(u32(2), 5_000_000n)),
    "tip of one lamport": system([payer, writable(TIP_ACCOUNT)], bytesOf(u32(2), 1n)),
    "wallet assigned to a program": system([payer], bytesOf(u32(1), STRANGERS_PROGRAM)),
    "wallet allocated": system([payer], bytesOf(u32(8), 100n)),
    "nonce advance": system([writable(STRANGER), readonly(RECENT_BLOCKHASHES), owner], u32(4)),
    "nonce withdrawal": system(
      [writable(STRANGER), writable(STRANGER), readonly(RECENT_BLOCKHASHES), owner],
      bytesOf(u32(5), 1n),
    ),
    "nonce authority change": system([writable(STRANGER), owner], bytesOf(u32(7), STRANGER)),
    "transfer with seed": system(
      [writable(STRANGER), owner, writable(STRANGER)],
      bytesOf(u32(11), 1n, 1n, 65, SYSTEM_PROGRAM),
    ),
    "account created for a stranger": system(
      [payer, writable(STRANGER)],
      bytesOf(u32(3), wallet, 1n, 0x61, 10n ** 9n, 165n, STRANGERS_PROGRAM),
    ),
    "token transfer": token(TOKEN_PROGRAM, [writable(source), writable(strangers), owner], 3, 1n),
    "Token-2022 transfer": token(TOKEN_2022_PROGRAM, [writable(source), writable(strangers), owner], 3, 1n),
    "checked token transfer": token(
      TOKEN_PROGRAM,
      [writable(source), readonly(inMint), writable(strangers), owner],
      12,
      1n,
      6,
    ),
    "delegate approval": token(TOKEN_PROGRAM, [writable(source), readonly(STRANGER), owner], 4, 2n ** 64n - 1n),
    "checked delegate approval": token(
      TOKEN_PROGRAM,
      [writable(source), readonly(inMint), readonly(STRANGER), owner],
      13,
      1n,
      6,
    ),
    "Token-2022 delegate approval": token(TOKEN_2022_PROGRAM, [writable(source), readonly(STRANGER), owner], 4, 1n),
    "owner change": token(TOKEN_PROGRAM, [writable(source), owner], 6, 2, 1, STRANGER),
    "close authority change": token(TOKEN_PROGRAM, [writable(source), owner], 6, 3, 1, STRANGER),
    burn: token(TOKEN_PROGRAM, [writable(source), writable(inMint), owner], 8, 1n),
    "sync native": token(TOKEN_PROGRAM, [writable(source)], 17),
    "account closed to a stranger": token(TOKEN_PROGRAM, [writable(source), writable(STRANGER), owner], 9),
    "source account closed": token(TOKEN_PROGRAM, [writable(source), payer, owner], 9),
    "second token account": {
      program: ASSOCIATED_TOKEN_PROGRAM,
      accounts: [
        payer,
        writable(tokenAccountAddress(STRANGER, SOL_MINT, TOKEN_PROGRAM)),
        readonly(STRANGER),
        readonly(SOL_MINT),
        readonly(SYSTEM_PROGRAM),
        readonly(TOKEN_PROGRAM),
      ],
      data: Uint8Array.of(1),
    },
    "account of another mint": {
      program: ASSOCIATED_TOKEN_PROGRAM,
      accounts: [
        payer,
        writable(tokenAccountAddress(wallet, STRANGER, TOKEN_PROGRAM)),
        readonly(wallet),
        readonly(STRANGER),
        readonly(SYSTEM_PROGRAM),
        readonly(TOKEN_PROGRAM),
      ],
      data: Uint8Array.of(1),
    },
    "foreign program": { program: STRANGERS_PROGRAM, accounts: [payer], data: Uint8Array.of(1, 2, 3) },
    "foreign program without accounts": { program: STRANGERS_PROGRAM, accounts: [], data: new Uint8Array() },
    memo: { program: MEMO_PROGRAM, accounts: [owner], data: new TextEncoder().encode("hello") },
    "larger heap": { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data: bytesOf(1, u32(262_144)) },
  };
  return Object.entries(extra).flatMap(([name, instruction]) => [
    { name: `${name}, last`, wire: wireOf({ ...plan, instructions: [...plan.instructions, instruction] }) },
    { name: `${name}, first`, wire: wireOf({ ...plan, instructions: [instruction, ...plan.instructions] }) },
  ]);
}

function swapIndex(plan: Plan): number {
  return plan.instructions.findIndex((instruction) => tableOf(instruction) !== undefined);
}

function tableOf({ program, data, accounts }: Instruction) {
  return findSwapTable({ program, data, accounts: accounts.map((account, index) => ({ ...account, index })) });
}

function withInstruction(plan: Plan, at: number, change: (instruction: Instruction) => Instruction): Plan {
  return { ...plan, instructions: plan.instructions.map((one, index) => (index === at ? change(one) : one)) };
}

function withData(plan: Plan, at: number, change: (data: Uint8Array) => Uint8Array | undefined): Plan {
  return withInstruction(plan, at, (instruction) => {
    const data = instruction.data.slice();
    return { ...instruction, data: change(data) ?? data };
  });
}

/** Amounts, bounds, flags, lengths and repetition of the swap itself. */
function swapChanges(plan: Plan, { wallet, answer, decimals, order }: HonestBuild): Hostile[] {
  const at = swapIndex(plan);
  const swap = plan.instructions[at]!;
  const table = tableOf(swap)!;
  const view = new DataView(swap.data.buffer);
  const written = (offset: number, change: (value: bigint) => bigint): Plan =>
    withData(plan, at, (data) => {
      writeU64(data, offset, BigInt.asUintN(64, change(view.getBigUint64(offset, true))));
      return data;
    });
  const single = plan.instructions.filter((one) => tableOf(one) !== undefined).length === 1;
  const forms: Record<string, Plan> = {
    "one unit more goes in": written(table.inAt, (value) => value + 1n),
    "twice as much goes in": written(table.inAt, (value) => value * 2n + 1n),
    "everything may go in": written(table.inAt, () => 2n ** 64n - 1n),
    "a byte follows the data": withData(plan, at, (data) => bytesOf(data, 0)),
    "a byte of the data is missing": withData(plan, at, (data) => data.slice(0, -1)),
    "another instruction of the venue": withData(plan, at, (data) => {
      data[0] = data[0]! ^ 0xff;
      return data;
    }),
    "the swap runs twice": {
      ...plan,
      instructions: plan.instructions.flatMap((one, index) => (index === at ? [one, one] : [one])),
    },
    "the swap is left out": { ...plan, instructions: plan.instructions.filter((_, index) => index !== at) },
    "the same call to another program": withInstruction(plan, at, (one) => ({ ...one, program: STRANGERS_PROGRAM })),
    "an account is missing": withInstruction(plan, at, (one) => ({
      ...one,
      // Of arrays of ticks or bins, the service chooses how many there are.
      accounts: one.accounts.toSpliced(
        table.accounts.findLastIndex(({ rule }) => rule.kind !== "ladder"),
        1,
      ),
    })),
    "a written hook account follows": withInstruction(plan, at, (one) => ({
      ...one,
      accounts: [...one.accounts, writable(STRANGER)],
    })),
    "hook accounts and program follow": withInstruction(plan, at, (one) => ({
      ...one,
      accounts: [...one.accounts, readonly(STRANGER), readonly(TABLE), readonly(STRANGERS_PROGRAM)],
    })),
    "the wallet's own account follows": withInstruction(plan, at, (one) => ({
      ...one,
      accounts: [...one.accounts, writable(wallet)],
    })),
    "two accounts are exchanged": withInstruction(plan, at, (one) => {
      const accounts = [...one.accounts];
      const placeOf = (kind: string) => table.accounts.findIndex(({ rule }) => rule.kind === kind);
      // Where lamports move, an instruction may name the wallet alone.
      const paying = placeOf("source") < 0 ? placeOf("wallet") : placeOf("source");
      const receiving = placeOf("destination") < 0 ? placeOf("wallet") : placeOf("destination");
      [accounts[paying], accounts[receiving]] = [accounts[receiving]!, accounts[paying]!];
      return { ...one, accounts };
    }),
  };
  // Where a program may read a price in an account that follows, one that it does not read changes nothing.
  if (!table.tails.some(([last]) => last?.rule.kind === "venue" && !last.writable)) {
    forms["a read-only hook account follows"] = withInstruction(plan, at, (one) => ({
      ...one,
      accounts: [...one.accounts, readonly(STRANGER)],
    }));
  }
  if (single) {
    // Rounding that the minimum output may hold where a program checks it before its vault pays.
    const ordered = order.swapMode === "exactOut" ? parseAmount(order.amount!, decimals.output)! : undefined;
    const rounding = table.rounds
      ? 2n + (ordered === undefined ? 0n : BigInt(answer.estimates!.outputAmountRaw) - ordered)
      : 0n;
    forms["nothing need come out"] = written(table.outAt, () => 0n);
    forms["one unit less need come out"] = written(table.outAt, (value) => value - rounding - 1n);
    forms["half need come out"] = written(table.outAt, (value) => (value > rounding ? (value - rounding) / 2n : 0n));
    forms["the bound is tightened"] = written(table.outAt, (value) => value + rounding + 1n);
  }
  for (const { at: from, length } of table.zeros) {
    forms[`byte ${from} of the data is set`] = withData(plan, at, (data) => {
      data[from + length - 1] = 1;
      return data;
    });
  }
  for (const { at: from } of table.flags) {
    forms[`flag ${from} has no known value`] = withData(plan, at, (data) => {
      data[from] = 7;
      return data;
    });
  }
  return Object.entries(forms).map(([name, changed]) => ({ name, wire: wireOf(changed) }));
}

/** Every account of the swap that the trade itself determines, replaced by a stranger's and by the wallet. */
function accountSubstitutions(plan: Plan, { wallet }: HonestBuild): Hostile[] {
  return plan.instructions.flatMap((swap, at) => {
    const table = tableOf(swap);
    if (table === undefined) return [];
    // Accounts of a kind that repeats are changed elsewhere.
    const tail = table.tails.find(({ length }) => table.accounts.length + length === swap.accounts.length);
    const places = [...table.accounts, ...(table.repeated === undefined ? (tail ?? []) : [])];
    const replaced = (index: number, address: Address): Hostile => ({
      name: `${table.name} account ${index} (${places[index]!.name}) is ${address === wallet ? "the wallet" : "a stranger"}`,
      wire: wireOf(
        withInstruction(plan, at, (one) => ({
          ...one,
          accounts: one.accounts.map((account, place) =>
            place === index ? { ...account, address, signer: account.signer && address === wallet } : account,
          ),
        })),
      ),
    });
    return places.flatMap(({ rule }, index) => [
      ...(rule.kind === "venue" ? [] : [replaced(index, STRANGER)]),
      ...(rule.kind === "wallet" ? [] : [replaced(index, wallet)]),
    ]);
  });
}

/** The accounts opened, closed and created around the swap. */
function surroundingChanges(plan: Plan, { wallet }: HonestBuild): Hostile[] {
  const forms: Hostile[] = [];
  const add = (name: string, changed: Plan) => forms.push({ name, wire: wireOf(changed) });
  for (const [at, { program, data, accounts }] of plan.instructions.entries()) {
    const substituted = (what: string, index: number, address: Address) =>
      add(
        `${what} replaced by a stranger`,
        withInstruction(plan, at, (one) => ({
          ...one,
          accounts: one.accounts.map((account, place) =>
            place === index ? { ...account, address, signer: false } : account,
          ),
        })),
      );
    if (program === SYSTEM_PROGRAM && data[0] === 3) {
      const lamportsAt = 44 + data[36]!;
      const lamports = new DataView(data.buffer, data.byteOffset).getBigUint64(lamportsAt, true);
      const put = (name: string, value: bigint) =>
        add(
          name,
          withData(plan, at, (bytes) => {
            writeU64(bytes, lamportsAt, value);
            return bytes;
          }),
        );
      put("more SOL is wrapped", lamports + 10_000_000n);
      put("all SOL is wrapped", 2n ** 62n);
      put("one lamport more is wrapped", lamports + 1n);
      put("too little is wrapped", 1n);
      add(
        "the temporary account gets another owner program",
        withData(plan, at, (bytes) => {
          bytes.set(STRANGERS_PROGRAM.bytes, lamportsAt + 16);
          return bytes;
        }),
      );
      add(
        "the temporary account gets another size",
        withData(plan, at, (bytes) => {
          writeU64(bytes, lamportsAt + 8, 170n);
          return bytes;
        }),
      );
      add(
        "the temporary account derives from a stranger",
        withData(plan, at, (bytes) => {
          bytes.set(STRANGER.bytes, 4);
          return bytes;
        }),
      );
      add(
        "the seed is another",
        withData(plan, at, (bytes) => {
          bytes[44] = bytes[44]! ^ 1;
          return bytes;
        }),
      );
      substituted("the temporary account", 1, STRANGER);
      add("the temporary account is opened last", moved(plan, at, plan.instructions.length - 1));
      add("the temporary account is not opened", {
        ...plan,
        instructions: plan.instructions.filter((_, index) => index !== at),
      });
    }
    if (program === TOKEN_PROGRAM && data[0] === 18) {
      add(
        "the temporary account is a stranger's",
        withData(plan, at, (bytes) => {
          bytes.set(STRANGER.bytes, 1);
          return bytes;
        }),
      );
      substituted("the account set up", 0, STRANGER);
      substituted("the mint of the temporary account", 1, STRANGER);
      add("the temporary account is not set up", {
        ...plan,
        instructions: plan.instructions.filter((_, index) => index !== at),
      });
    }
    if (program === TOKEN_PROGRAM && data[0] === 9) {
      substituted("the receiver of the closed account's SOL", 1, STRANGER);
      substituted("the closed account", 0, STRANGER);
      add("the temporary account is closed before the swap", moved(plan, at, swapIndex(plan)));
      add("the temporary account stays open", {
        ...plan,
        instructions: plan.instructions.filter((_, index) => index !== at),
      });
      add("the temporary account is closed twice", {
        ...plan,
        instructions: [...plan.instructions, plan.instructions[at]!],
      });
    }
    if (program === ASSOCIATED_TOKEN_PROGRAM) {
      for (const [index, what] of [
        "the payer",
        "the token account",
        "its owner",
        "its mint",
        "the system program",
        "the token program",
      ].entries()) {
        substituted(`${what} of the created account`, index, STRANGER);
      }
      add(
        "creation that fails when the account exists",
        withData(plan, at, () => Uint8Array.of(0)),
      );
      add("the token account is created twice", {
        ...plan,
        instructions: [...plan.instructions, { program, data, accounts }],
      });
    }
  }
  add(
    "rights beyond need",
    withInstruction(plan, swapIndex(plan), (one) => ({
      ...one,
      accounts: one.accounts.map((account) => (account.address === wallet ? account : { ...account, writable: true })),
    })),
  );
  return forms;
}

function moved(plan: Plan, from: number, to: number): Plan {
  const instructions = [...plan.instructions];
  const [one] = instructions.splice(from, 1);
  instructions.splice(to, 0, one!);
  return { ...plan, instructions };
}

/** What is paid for priority. */
function budgetChanges(plan: Plan): Hostile[] {
  const price = plan.instructions.findIndex(({ program, data }) => program === COMPUTE_BUDGET_PROGRAM && data[0] === 3);
  const limit = plan.instructions.findIndex(({ program, data }) => program === COMPUTE_BUDGET_PROGRAM && data[0] === 2);
  const setPrice = (value: bigint) =>
    withData(plan, price, (data) => {
      writeU64(data, 1, value);
      return data;
    });
  const forms: Record<string, Plan> = {
    "a high compute price": setPrice(10n ** 12n),
    "the highest compute price": setPrice(2n ** 64n - 1n),
    "two compute prices": { ...plan, instructions: [plan.instructions[price]!, ...plan.instructions] },
    "two compute limits": { ...plan, instructions: [...plan.instructions, plan.instructions[limit]!] },
    "a compute price without a limit": {
      ...plan,
      instructions: plan.instructions.filter((_, index) => index !== limit),
    },
    "a malformed compute price": withData(plan, price, (data) => bytesOf(data, 0)),
  };
  return Object.entries(forms).map(([name, changed]) => ({ name, wire: wireOf(changed) }));
}

/** Signers, lookup tables, and the form of the message itself. */
function messageChanges(plan: Plan, build: HonestBuild): Hostile[] {
  const { wire, wallet } = build;
  const forms: Hostile[] = [];
  const swap = plan.instructions[swapIndex(plan)]!;
  const table = tableOf(swap)!;
  const placeOf = (kind: string) => table.accounts.findIndex(({ rule }) => rule.kind === kind);
  // Where lamports arrive, an instruction may name the paying account alone.
  const own = swap.accounts[placeOf("destination") < 0 ? placeOf("source") : placeOf("destination")]!.address;
  const edited = (name: string, edit: (bytes: Uint8Array) => Uint8Array | undefined) => {
    const bytes = wire.slice();
    forms.push({ name, wire: edit(bytes) ?? bytes });
  };
  forms.push({ name: "another fee payer", wire: wireOf({ ...plan, payer: STRANGER }) });
  forms.push({
    name: "a second signer",
    wire: wireOf(
      withInstruction(plan, swapIndex(plan), (one) => ({
        ...one,
        accounts: [...one.accounts, readonlySigner(STRANGER)],
      })),
    ),
  });
  edited("a second signature is asked for", (bytes) => {
    bytes[66] = 2;
    return bytes;
  });
  edited("no signature is asked for", (bytes) => {
    bytes[66] = 0;
    return bytes;
  });
  edited("the signer is read-only", (bytes) => {
    bytes[67] = 1;
    return bytes;
  });
  edited("a signature is already there", (bytes) => {
    bytes[10] = 1;
    return bytes;
  });
  edited("bytes follow", (bytes) => bytesOf(bytes, 0));
  edited("the last byte is missing", (bytes) => bytes.slice(0, -1));
  edited("two places for signatures", (bytes) => bytesOf(2, new Uint8Array(128), bytes.subarray(65)));
  edited("an unknown version", (bytes) => {
    bytes[65] = 0x82;
    return bytes;
  });
  edited("a length in more bytes than it needs", (bytes) => bytesOf(0x81, 0, bytes.subarray(1)));
  edited("more accounts may be written", (bytes) => {
    bytes[68] = bytes[68]! - 1;
    return bytes;
  });
  edited("all accounts may be written", (bytes) => {
    bytes[68] = 0;
    return bytes;
  });
  edited("an account is named twice", (bytes) => {
    bytes.copyWithin(70 + 32, 70, 70 + 32);
    return bytes;
  });
  const lookedUp = wireOf(plan, [{ address: TABLE, entries: [own] }]);
  if (!equalBytes(lookedUp, wire)) {
    forms.push({ name: "a lookup table nobody knows", wire: lookedUp });
    forms.push({
      name: "a lookup table that holds a stranger",
      wire: lookedUp,
      lookupTables: new Map([[TABLE, [STRANGER]]]),
    });
    forms.push({ name: "a lookup table that is too short", wire: lookedUp, lookupTables: new Map([[TABLE, []]]) });
    forms.push({
      name: "a lookup table that repeats an account",
      wire: lookedUp,
      lookupTables: new Map([[TABLE, [wallet]]]),
    });
  }
  // One looked-up account that no instruction names.
  const unused = bytesOf(wire.subarray(0, -1), 1, TABLE, 1, 0, 0);
  forms.push({ name: "a lookup nobody needs", wire: unused, lookupTables: new Map([[TABLE, [STRANGER]]]) });
  return forms;
}
