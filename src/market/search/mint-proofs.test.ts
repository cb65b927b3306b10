import { afterEach, beforeEach, expect, test } from "vitest";
import { Address } from "../../primitives/address.ts";
import { writeU32 } from "../../primitives/bytes.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../solana/programs.ts";
import { MintProofs } from "./mint-proofs.ts";

const addressAt = (n: number): Address => {
  const bytes = new Uint8Array(32).fill(7);
  writeU32(bytes, 0, n);
  return Address.from(bytes);
};
const mintData = () => {
  const data = new Uint8Array(82);
  data[45] = 1;
  return data;
};

let proofs: MintProofs;
let calls: number[];
/** What the first call asked for. */
let first: readonly Address[];
let existing: Map<Address, Address>;
let nowMs: number;

beforeEach(() => {
  calls = [];
  existing = new Map();
  nowMs = 1_000_000;
  proofs = new MintProofs({
    reader: {
      fetchAccounts: async (addresses) => {
        if (calls.length === 0) first = addresses;
        calls.push(addresses.length);
        const accounts = addresses.map((address) => {
          const owner = existing.get(address);
          if (owner === undefined) return null;
          return { address, owner, lamports: 1n, data: mintData(), executable: false, slot: 5n };
        });
        return { slot: 5n, accounts };
      },
      fetchProgramAccounts: async () => "refused",
    },
    now: () => nowMs,
    networkOf: (address) => address,
    negativeMs: 1_000,
  });
});
afterEach(() => proofs.close());

const caller = (keyId: string) => ({ peer: "192.0.2.1", principal: { keyId } });
const isMint = async (mint: Address, keyId = "one") => (await proofs.prove(mint, caller(keyId))).account !== null;

test("mints asked for together are one call, and each is answered", async () => {
  existing.set(addressAt(3), TOKEN_PROGRAM);
  const answers = await Promise.all(Array.from({ length: 90 }, (_, n) => isMint(addressAt(n))));
  expect(calls).toEqual([90]);
  expect(answers.flatMap((yes, n) => (yes ? [n] : []))).toEqual([3]);
});

test("an account that is no mint is as good as none", async () => {
  existing.set(addressAt(1), SYSTEM_PROGRAM);
  expect(await isMint(addressAt(1))).toBe(false);
  expect(proofs.isAbsent(addressAt(1))).toBe(true);
});

test("that there is none holds for a moment; one more call shows that there is one now", async () => {
  expect(await isMint(addressAt(1))).toBe(false);
  expect(proofs.isAbsent(addressAt(1))).toBe(true);
  existing.set(addressAt(1), TOKEN_PROGRAM);
  nowMs += 1_001;
  expect(proofs.isAbsent(addressAt(1))).toBe(false);
  expect(await isMint(addressAt(1))).toBe(true);
  expect(calls).toEqual([1, 1]);
});

test("a flood of mints that do not exist takes a bounded number of calls, and another key waits for none of it", async () => {
  const flood = Array.from({ length: 3_000 }, (_, n) => isMint(addressAt(n), "greedy").catch(() => "refused"));
  existing.set(addressAt(9_999), TOKEN_PROGRAM);
  expect(await isMint(addressAt(9_999), "other")).toBe(true);
  expect(first).toContain(addressAt(9_999));
  const answers = await Promise.all(flood);
  expect(answers.filter((answer) => answer === "refused").length).toBe(2_500);
  expect(calls.length).toBe(6);
});
