import { createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { beforeEach, describe, expect, it } from "vitest";
import { Address } from "../../primitives/address.ts";
import { concatBytes, hex, writeU32, writeU64 } from "../../primitives/bytes.ts";
import { RECENT_BLOCKHASHES_SYSVAR, SLOT_HASHES_SYSVAR, SYSTEM_PROGRAM } from "../../solana/programs.ts";
import { transferLamports } from "../../solana/token/token-instructions.ts";
import { feeOf } from "../transaction/fees.ts";
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS } from "../transaction/transaction-error.ts";
import { decodeMessage, decodeTransaction, MalformedTransaction } from "../transaction/wire-transaction.ts";
import { Chain } from "./chain.ts";
import type { Commitment } from "./ledger.ts";

const SOL = 1_000_000_000n;
const LOOKUP_TABLE_PROGRAM = Address.of("AddressLookupTab1e1111111111111111111111111");

let chain: Chain;
let wallet: Keypair;
let payer: Address;
const to = Address.from(Keypair.generate().publicKey.toBytes());

beforeEach(() => {
  chain = new Chain({ now: () => 1_790_000_000_000, finalizedAfterSlots: 4, keepSlots: 200 });
  wallet = Keypair.generate();
  payer = Address.from(wallet.publicKey.toBytes());
  chain.airdrop({ to: payer, lamports: 10n * SOL });
});

function advance(slots: number): void {
  for (let i = 0; i < slots; i++) chain.advanceSlot();
}

function signRaw(message: Uint8Array): Uint8Array {
  const secret = concatBytes(hex("302e020100300506032b657004220420"), wallet.secretKey.subarray(0, 32));
  return sign(null, message, createPrivateKey({ key: Buffer.from(secret), format: "der", type: "pkcs8" }));
}

/** A version 1 transfer, written down from SIMD-0385 by hand. */
function encodeVersion1(lamports: bigint, padding = 0): Uint8Array {
  const config = new Uint8Array(16);
  writeU64(config, 0, 700n);
  writeU32(config, 8, 10_000);
  writeU32(config, 12, 1_000_000);
  const transfer = concatBytes(transferLamports(payer, to, lamports).data, new Uint8Array(padding));
  const message = concatBytes(
    Uint8Array.of(0x81, 1, 0, 1),
    Uint8Array.of(0b1111, 0, 0, 0),
    bs58.decode(chain.ledger.latestBlockhash("processed").blockhash),
    Uint8Array.of(1, 3),
    payer.bytes,
    to.bytes,
    SYSTEM_PROGRAM.bytes,
    config,
    Uint8Array.of(2, 2, transfer.length & 0xff, transfer.length >> 8),
    Uint8Array.of(0, 1),
    transfer,
  );
  return concatBytes(message, signRaw(message));
}

function encodeVersion0(lamports: bigint): Uint8Array {
  const message = new TransactionMessage({
    payerKey: wallet.publicKey,
    recentBlockhash: chain.ledger.latestBlockhash("processed").blockhash,
    instructions: [
      SystemProgram.transfer({ fromPubkey: wallet.publicKey, toPubkey: Keypair.generate().publicKey, lamports }),
    ],
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  transaction.sign([wallet]);
  return transaction.serialize();
}

describe("a chain in process", () => {
  it("executes version 1 transactions, up to 4,096 bytes", () => {
    const wire = decodeTransaction(encodeVersion1(SOL));
    expect(wire.version).toBe(1);
    const { landed } = chain.send(wire);
    expect(landed?.execution.error).toBeNull();
    expect(landed?.feeLamports).toBe(5_700n);
    expect(landed?.unitPriceMicroLamports).toBe(70_000n);
    expect(chain.account(to, "processed")).toBeNull();
    advance(1);
    expect(chain.account(to, "processed")?.lamports).toBe(SOL);
    const largest = 4_096 - encodeVersion1(SOL).length;
    expect(chain.send(decodeTransaction(encodeVersion1(SOL, largest))).landed).toBeDefined();
    expect(() => decodeTransaction(encodeVersion1(SOL, largest + 1))).toThrow(MalformedTransaction);
  });

  it("charges what the fee rule says", () => {
    for (const bytes of [encodeVersion0(SOL), encodeVersion1(SOL)]) {
      const wire = decodeTransaction(bytes);
      expect(chain.send(wire).landed?.feeLamports).toBe(feeOf(wire).lamports);
      expect(feeOf(decodeMessage(wire.message))).toEqual(feeOf(wire));
    }
  });

  it("loads addresses from lookup tables, but not those added in this slot", () => {
    const table = Address.from(Keypair.generate().publicKey.toBytes());
    const message = concatBytes(
      Uint8Array.of(0x80, 1, 0, 1, 2),
      payer.bytes,
      SYSTEM_PROGRAM.bytes,
      bs58.decode(chain.ledger.latestBlockhash("processed").blockhash),
      Uint8Array.of(1, 1, 2, 0, 2, 12),
      transferLamports(payer, to, SOL).data,
      Uint8Array.of(1),
      table.bytes,
      Uint8Array.of(1, 0, 0),
    );
    const wire = decodeTransaction(concatBytes(Uint8Array.of(1), signRaw(message), message));
    expect(chain.send(wire)).toMatchObject({ landed: undefined, error: "AddressLookupTableNotFound" });
    const data = new Uint8Array(56 + 32);
    data[0] = 1;
    writeU64(data, 4, 2n ** 64n - 1n);
    writeU64(data, 12, BigInt(chain.ledger.tip.slot));
    data.set(to.bytes, 56);
    chain.setAccounts([{ address: table, owner: LOOKUP_TABLE_PROGRAM, lamports: SOL, data }]);
    expect(chain.send(wire)).toMatchObject({ error: "InvalidAddressLookupTableIndex" });
    advance(1);
    const { landed } = chain.send(wire);
    expect(landed?.loaded.writable).toEqual([to]);
    expect(landed?.postBalances).toEqual([9n * SOL - 5_000n, 1n, SOL]);
  });

  it("takes the fee when a program does not exist, and nothing when the payer cannot pay", () => {
    const message = concatBytes(
      Uint8Array.of(1, 0, 1, 2),
      payer.bytes,
      to.bytes,
      bs58.decode(chain.ledger.latestBlockhash("processed").blockhash),
      Uint8Array.of(1, 1, 0, 0),
    );
    const wire = decodeTransaction(concatBytes(Uint8Array.of(1), signRaw(message), message));
    const { landed } = chain.send(wire);
    expect(landed?.execution.error).not.toBeNull();
    expect(landed?.feeLamports).toBe(5_000n);
    advance(1);
    expect(chain.account(payer, "processed")?.lamports).toBe(10n * SOL - 5_000n);
    const pauper = new Chain({ now: Date.now });
    const poor = concatBytes(
      message.subarray(0, 68),
      bs58.decode(pauper.ledger.latestBlockhash("processed").blockhash),
    );
    const unpaid = concatBytes(poor, message.subarray(100));
    const result = pauper.send(decodeTransaction(concatBytes(Uint8Array.of(1), signRaw(unpaid), unpaid)));
    expect(result).toMatchObject({ landed: undefined, error: "AccountNotFound" });
  });

  it("follows the wall clock, and keeps what is remembered within bounds", () => {
    expect(chain.ledger.tip.unixTimestamp).toBe(1_790_000_000);
    const { landed } = chain.send(decodeTransaction(encodeVersion0(SOL)));
    advance(300);
    expect(chain.ledger.transaction(landed!.signature)).toBeUndefined();
    expect(chain.ledger.oldestSlot).toBe(chain.ledger.tip.slot - 200);
    expect(chain.ledger.commitmentOf(chain.ledger.tip.slot - 4)).toBe("finalized");
  });

  it("counts blocks, not slots, for the life of a blockhash, and lists no block of an absent leader", () => {
    const { height, slot } = chain.ledger.tip;
    const { blockhash } = chain.ledger.latestBlockhash("processed");
    for (let i = 0; i < 100; i++) chain.advanceSlot(i % 20 === 0 ? 4 : 0);
    expect(chain.ledger.tip).toMatchObject({ height: height + 100, slot: slot + 120 });
    expect(chain.ledger.isBlockhashValid(blockhash, "processed")).toBe(true);
    expect(chain.ledger.slot("confirmed")).toBe(chain.ledger.tip.slot - 2);
    advance(52);
    expect(chain.ledger.isBlockhashValid(blockhash, "processed")).toBe(false);
    expect(chain.ledger.blockAt(slot + 1)).toBeUndefined();
    expect(chain.ledger.blockAt(slot + 5)).toMatchObject({ parentSlot: slot });
  });

  it("lists recent blockhashes, beginning with that of the commitment's own block", () => {
    for (let i = 0; i < 8; i++) chain.advanceSlot(i === 4 ? 4 : 0);
    for (const commitment of ["processed", "confirmed", "finalized"] as const) {
      const { data } = chain.account(RECENT_BLOCKHASHES_SYSVAR, commitment)!;
      expect(data.length).toBe(6_008);
      const listed = [0, 1, 2].map((i) => bs58.encode(data.subarray(8 + 40 * i, 40 + 40 * i)));
      const blocks = [...chain.ledger.backwards(commitment)].slice(0, 3);
      expect(listed).toEqual(blocks.map(({ blockhash }) => blockhash));
    }
  });

  it("shows slot hashes as the block of the commitment has them", () => {
    advance(6);
    const newest = (commitment: Commitment) =>
      chain.account(SLOT_HASHES_SYSVAR, commitment)!.data.subarray(8, 16).join();
    expect(new Set((["processed", "confirmed", "finalized"] as const).map(newest)).size).toBe(3);
  });

  it("gives the same blockhashes for the same seed, and others for another", () => {
    const hashes = [7, 7, 8].map((seed) => new Chain({ now: Date.now, seed }).ledger.tip.blockhash);
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  it("survives every bit flip and every cut of a transaction", () => {
    for (const bytes of [encodeVersion0(SOL), encodeVersion1(SOL)]) {
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Uint8Array.from(bytes);
        flipped[bit >> 3] = flipped[bit >> 3]! ^ (1 << (bit & 7));
        expect(tryBoth(flipped)).not.toBe("landed");
      }
      for (let length = 0; length < bytes.length; length++) {
        expect(tryBoth(bytes.slice(0, length))).toBe("malformed");
      }
    }
  });
});

function tryBoth(bytes: Uint8Array): "landed" | "dropped" | "malformed" {
  try {
    const wire = decodeTransaction(bytes);
    chain.simulate(wire, { checkBlockhash: false });
    return chain.send(wire).landed === undefined ? "dropped" : "landed";
  } catch (error) {
    if (error instanceof MalformedTransaction) return "malformed";
    throw error;
  }
}

describe("error names", () => {
  it("are LiteSVM's, number by number", () => {
    const declarations = readFileSync(
      createRequire(import.meta.url)
        .resolve("litesvm/dist/internal.js")
        .replace(/js$/, "d.ts"),
      "utf8",
    );
    const names = (table: string) => {
      const body = declarations.split(`const enum ${table} {`)[1]!.split("}")[0]!;
      return [...body.matchAll(/(\w+) = (\d+)/g)].sort((a, b) => Number(a[2]) - Number(b[2])).map(([, name]) => name);
    };
    expect(names("TransactionErrorFieldless")).toEqual([...TRANSACTION_ERRORS]);
    expect(names("InstructionErrorFieldless")).toEqual([...INSTRUCTION_ERRORS]);
  });
});
