import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";
import { VersionedTransaction } from "@solana/web3.js";
import { expect, test } from "vitest";
import { type ReadTransaction, readTransaction } from "../../../src/client/verify/read-transaction.ts";
import { createRandom, type Random } from "../../../src/primitives/random.ts";
import { buildSample, sampleVenues } from "./sample-builds.ts";
import { asVersion1 } from "./version-1.ts";

/** How many byte strings three readers are given; the whole measure is 200 000, run by `npm run slow:client`. */
const COUNT = Number(process.env.BYTE_STRINGS ?? 1_000);

const VERSION_1 = 0x81;

/** A message as plain text, to be compared: header, keys, instructions, lookups. */
type Meaning = string;

const list = (bytes: Iterable<number>): string => [...bytes].join(",");

/** What this library reads; undefined if it refuses the bytes. */
function ours(wire: Uint8Array): Meaning | undefined {
  let read: ReadTransaction;
  try {
    read = readTransaction(wire);
  } catch {
    return undefined;
  }
  const { version, requiredSignatures, accounts, instructions, signatures, lookupTables, config } = read;
  if (lookupTables.length > 0) return undefined;
  const settings = config && [
    config.priorityFeeLamports,
    config.computeUnitLimit,
    config.loadedAccountsLimit,
    config.heapSize,
  ];
  return [
    version,
    requiredSignatures,
    signatures.length,
    ...(settings?.filter((value) => value !== undefined) ?? []),
    accounts.map(({ address, signer, writable }) => `${address}${signer ? "s" : ""}${writable ? "w" : ""}`).join(" "),
    ...instructions.map(
      ({ program, accounts: named, data }) => `${program}(${named.map(({ index }) => index).join(",")}) ${list(data)}`,
    ),
  ].join("\n");
}

/** What @solana/web3.js reads; undefined if it refuses the bytes. */
function web3(wire: Uint8Array): Meaning | undefined {
  // It knows no version 1, and takes its first byte for a number of signatures.
  if (wire[0] === VERSION_1) return undefined;
  try {
    const { message, signatures } = VersionedTransaction.deserialize(wire);
    if (message.addressTableLookups.length > 0) return undefined;
    const keys = message.staticAccountKeys.map((key) => key.toBase58());
    return [
      message.version,
      message.header.numRequiredSignatures,
      signatures.length,
      keys
        .map(
          (key, index) =>
            `${key}${message.isAccountSigner(index) ? "s" : ""}${message.isAccountWritable(index) ? "w" : ""}`,
        )
        .join(" "),
      ...message.compiledInstructions.map(
        ({ programIdIndex, accountKeyIndexes, data }) =>
          `${keys[programIdIndex]}(${accountKeyIndexes.join(",")}) ${list(data)}`,
      ),
    ].join("\n");
  } catch {
    return undefined;
  }
}

/** The instructions of a message as kit decodes it: version 1 lists their heads first. */
function instructionsOf(message: ReturnType<ReturnType<typeof getCompiledTransactionMessageDecoder>["decode"]>) {
  if ("instructions" in message) return message.instructions;
  return message.instructionHeaders.map(({ programAccountIndex }, index) => {
    const { instructionAccountIndices, instructionData } = message.instructionPayloads[index]!;
    return {
      programAddressIndex: programAccountIndex,
      accountIndices: instructionAccountIndices,
      data: instructionData,
    };
  });
}

/** What @solana/kit reads; undefined if it refuses the bytes. */
function kit(wire: Uint8Array): Meaning | undefined {
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if ("addressTableLookups" in message && (message.addressTableLookups ?? []).length > 0) return undefined;
    const { header, staticAccounts: keys } = message;
    const { numSignerAccounts: signers, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
    const writes = (index: number) =>
      index < signers
        ? index < signers - numReadonlySignerAccounts
        : index < keys.length - numReadonlyNonSignerAccounts;
    return [
      message.version,
      signers,
      Object.keys(signatures).length,
      ...("configValues" in message ? message.configValues.map(({ value }) => value) : []),
      keys.map((key, index) => `${key}${index < signers ? "s" : ""}${writes(index) ? "w" : ""}`).join(" "),
      ...instructionsOf(message).map(
        ({ programAddressIndex, accountIndices, data }) =>
          `${keys[programAddressIndex]}(${(accountIndices ?? []).join(",")}) ${list(data ?? [])}`,
      ),
    ].join("\n");
  } catch {
    return undefined;
  }
}

/** Honest bytes with a few bytes changed, cut, repeated or added. */
function changed(random: Random, wire: Uint8Array): Uint8Array {
  let bytes = wire.slice();
  for (let changes = Number(random.between(1n, 4n)); changes > 0; changes--) {
    // The head of the message decides most: half of the changes fall on it.
    const end = random.chance(0.5) ? Math.min(bytes.length, 75) : bytes.length;
    const at = Number(random.below(BigInt(Math.max(1, end))));
    const kind = random.pick(["flip", "set", "small", "cut", "add", "copy"]);
    if (kind === "flip") bytes[at]! ^= 1 << Number(random.below(8n));
    else if (kind === "set") bytes[at] = Number(random.below(256n));
    else if (kind === "small") bytes[at] = random.pick([0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xff]);
    else if (kind === "cut") bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]);
    else if (kind === "add") bytes = Uint8Array.from([...bytes.subarray(0, at), 0x80, ...bytes.subarray(at)]);
    else bytes.copyWithin(at, Math.max(0, at - 32), at);
  }
  return bytes;
}

test("what this library reads, web3.js and kit read alike: never another meaning", { timeout: 3_600_000 }, async () => {
  const random = createRandom(200_000);
  const wires: Uint8Array[] = [];
  for (const venue of sampleVenues) {
    for (let tries = 0; tries < 12; tries++) {
      const build = await buildSample(random, venue);
      if (build === undefined || build.form === "version 1") continue;
      wires.push(build.wire);
      if (build.lookupTables.size === 0 && tries % 4 === 0) wires.push(asVersion1(build.wire));
    }
  }
  const differ: string[] = [];
  const compared = { "web3.js": 0, kit: 0 };
  let read = 0;
  const versions = new Map<string, number>();
  for (let done = 0; done < COUNT; done++) {
    const wire = done < wires.length ? wires[done]! : changed(random, random.pick(wires));
    const own = ours(wire);
    if (own === undefined) continue;
    read += 1;
    const version = own.slice(0, own.indexOf("\n"));
    versions.set(version, (versions.get(version) ?? 0) + 1);
    for (const [name, theirs] of [
      ["web3.js", web3(wire)],
      ["kit", kit(wire)],
    ] as const) {
      if (theirs !== undefined) compared[name] += 1;
      // A reader that refuses what this one reads is stricter; that gives no other meaning.
      if (theirs !== undefined && theirs !== own) differ.push(`${name}: ${Buffer.from(wire).toString("hex")}`);
    }
  }
  expect(differ.slice(0, 2)).toEqual([]);
  expect(read).toBeGreaterThan(COUNT / 20);
  expect(compared.kit).toBeGreaterThan(read / 2);
  expect(compared["web3.js"]).toBeGreaterThan((read - versions.get("1")!) / 2);
  process.stdout.write(
    `${COUNT} byte strings, ${read} of them readable (by version ${JSON.stringify(Object.fromEntries(versions))}), compared ${JSON.stringify(compared)}: no other meaning\n`,
  );
});
