import { decompileTransactionMessage, getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";
import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { describe, expect, test } from "vitest";
import { Address } from "../primitives/address.ts";
import { createRandom, type Random } from "../primitives/random.ts";
import type { Instruction } from "./instruction.ts";
import {
  compileMessage,
  compileMessageV1,
  compileWithin,
  type LookupTable,
  unsignedTransaction,
  wireLayout,
} from "./message.ts";

const key = (address: Address) => new PublicKey(address.bytes);

function randomPlan(random: Random, maxData = 300) {
  const addresses = Array.from({ length: 24 }, () => Address.from(random.bytes(32)));
  const payer = random.pick(addresses);
  const instructions: Instruction[] = Array.from({ length: 1 + (random.u32() % 5) }, () => ({
    program: random.pick(addresses),
    accounts: Array.from({ length: random.u32() % 30 }, () => {
      const address = random.pick(addresses);
      return { address, writable: random.chance(0.5), signer: address === payer };
    }),
    data: random.bytes(random.u32() % maxData),
  }));
  const lookupTables: LookupTable[] = Array.from({ length: random.u32() % 3 }, () => ({
    address: Address.from(random.bytes(32)),
    entries: Array.from({ length: random.u32() % 20 }, () => random.pick(addresses)).filter(
      (entry, index, all) => all.indexOf(entry) === index,
    ),
  }));
  return { payer, instructions, blockhash: random.bytes(32), lookupTables };
}

describe("compileMessage", () => {
  test("web3.js reads every message as the same instructions, over 500 random plans", () => {
    const random = createRandom(1);
    for (let round = 0; round < 500; round++) {
      const plan = randomPlan(random);
      const transaction = VersionedTransaction.deserialize(unsignedTransaction(compileMessage(plan)));
      const tables = plan.lookupTables.map(
        ({ address, entries }) =>
          new AddressLookupTableAccount({
            key: key(address),
            state: {
              deactivationSlot: 2n ** 64n - 1n,
              lastExtendedSlot: 0,
              lastExtendedSlotStartIndex: 0,
              addresses: entries.map(key),
            },
          }),
      );
      const read = TransactionMessage.decompile(transaction.message, { addressLookupTableAccounts: tables });
      expect(read.payerKey.toBase58()).toBe(plan.payer.toString());
      expect(read.recentBlockhash).toBe(bs58.encode(plan.blockhash));
      expect(read.instructions.map(shapeOf)).toEqual(expectedShapes(plan.payer, plan.instructions));
    }
  });

  test("the same plan without tables has web3.js's own length", () => {
    const random = createRandom(2);
    for (let round = 0; round < 100; round++) {
      const plan = { ...randomPlan(random, 20), lookupTables: [] };
      const theirs = new TransactionMessage({
        payerKey: key(plan.payer),
        recentBlockhash: bs58.encode(plan.blockhash),
        instructions: plan.instructions.map(
          ({ program, accounts, data }) =>
            new TransactionInstruction({
              programId: key(program),
              keys: accounts.map(({ address, signer, writable }) => ({
                pubkey: key(address),
                isSigner: signer,
                isWritable: writable,
              })),
              data: Buffer.from(data),
            }),
        ),
      }).compileToV0Message();
      expect(compileMessage(plan).length).toBe(theirs.serialize().length);
    }
  });

  test("a message is written if it has no more bytes than allowed, else only its size is given", () => {
    const random = createRandom(3);
    for (let round = 0; round < 100; round++) {
      const plan = randomPlan(random, 20);
      const message = compileMessage(plan);
      expect(compileWithin(plan, message.length)).toEqual(message);
      expect(compileWithin(plan, message.length - 1)).toBe(message.length);
    }
  });
});

describe("compileMessageV1", () => {
  test("kit reads every message as the same instructions and budget, over 200 random plans", () => {
    const random = createRandom(9);
    for (let round = 0; round < 200; round++) {
      const { payer, instructions, blockhash } = randomPlan(random, 60);
      const budget = {
        priorityFeeLamports: random.below(1n << 40n),
        computeUnitLimit: random.u32() % 1_400_000,
        loadedBytesLimit: random.u32() % 60_000_000,
      };
      const wire = unsignedTransaction(compileMessageV1({ payer, instructions, blockhash }, budget));
      expect(wireLayout(wire).signatureAt).toBe(wire.length - 64);
      const { messageBytes } = getTransactionDecoder().decode(wire);
      const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
      const message = decompileTransactionMessage(compiled);
      expect(message.version).toBe(1);
      expect(message.feePayer.address).toBe(payer.toString());
      const read: readonly ReadInstruction[] = message.instructions;
      expect(
        read.map(({ programAddress, accounts, data }) => ({
          program: programAddress,
          accounts: (accounts ?? []).map(({ address }) => address),
          data: Buffer.from(Array.from(data ?? [])).toString("hex"),
        })),
      ).toEqual(
        instructions.map(({ program, accounts, data }) => ({
          program: program.toString(),
          accounts: accounts.map(({ address }) => address.toString()),
          data: Buffer.from(data).toString("hex"),
        })),
      );
      expect(message).toMatchObject({
        config: {
          priorityFeeLamports: budget.priorityFeeLamports,
          computeUnitLimit: budget.computeUnitLimit,
          loadedAccountsDataSizeLimit: budget.loadedBytesLimit,
        },
      });
    }
  });
});

interface ReadInstruction {
  readonly programAddress: string;
  readonly accounts?: readonly { readonly address: string }[];
  readonly data?: ArrayLike<number>;
}

const shapeOf = (instruction: TransactionInstruction) => ({
  program: instruction.programId.toBase58(),
  accounts: instruction.keys.map(({ pubkey, isSigner, isWritable }) => [pubkey.toBase58(), isSigner, isWritable]),
  data: Buffer.from(instruction.data).toString("hex"),
});

/** A message gives an account one set of rights: the union of what its instructions ask for; the payer signs and writes. */
function expectedShapes(payer: Address, instructions: readonly Instruction[]) {
  const written = new Set<Address>([payer]);
  for (const { accounts } of instructions)
    for (const { address, writable } of accounts) if (writable) written.add(address);
  return instructions.map(({ program, accounts, data }) => ({
    program: program.toString(),
    accounts: accounts.map(({ address }) => [address.toString(), address === payer, written.has(address)]),
    data: Buffer.from(data).toString("hex"),
  }));
}

test("a transaction is its message behind an empty signature, whether or not it lies in the message's memory", () => {
  const random = createRandom(31);
  for (let round = 0; round < 50; round++) {
    const first = compileMessage({ ...randomPlan(random, 40), lookupTables: [] });
    const copied = first.slice();
    const last = round % 2 === 0 ? first : compileMessage({ ...randomPlan(random, 40), lookupTables: [] });
    const [once, again] = [unsignedTransaction(first), unsignedTransaction(first)];
    expect(once.buffer === first.buffer && once.byteOffset + 65 === first.byteOffset).toBe(last === first);
    for (const whole of [once, again]) {
      expect(whole.length).toBe(65 + copied.length);
      expect(whole[0]).toBe(1);
      expect(whole.subarray(1, 65).every((byte) => byte === 0)).toBe(true);
      expect(Buffer.compare(whole.subarray(65), copied)).toBe(0);
    }
    // What is signed once does not reach the other.
    once.fill(9, 1, 65);
    expect(again[1]).toBe(0);
    expect(Buffer.compare(unsignedTransaction(last), unsignedTransaction(last.slice()))).toBe(0);
  }
});
