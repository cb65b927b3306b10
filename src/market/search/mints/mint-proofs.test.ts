import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { NodeError } from "../../../chain/rpc/node-error.ts";
import { Address } from "../../../primitives/address.ts";
import { writeU32 } from "../../../primitives/bytes.ts";
import { OneATurn } from "../../../primitives/turns/one-a-turn.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../../solana/programs.ts";
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
/** The last call that asked for each. */
let lastAsked: Map<Address, number>;
/** Accounts that no answer can carry. */
let tooLarge: ReadonlySet<Address>;
let isUncertain: boolean;
let failure: NodeError | undefined;
let nowMs: number;
let isClockStill: boolean;

beforeEach(() => {
  calls = [];
  existing = new Map();
  lastAsked = new Map();
  tooLarge = new Set();
  isUncertain = false;
  failure = undefined;
  nowMs = 1_000_000;
  isClockStill = false;
  proofs = new MintProofs({
    reader: {
      fetchAccounts: async (addresses) => {
        if (calls.length === 0) first = addresses;
        calls.push(addresses.length);
        if (failure !== undefined) throw failure;
        for (const address of addresses) lastAsked.set(address, calls.length);
        // As many as one address may make.
        if (!isClockStill) nowMs += 100;
        if (addresses.some((address) => tooLarge.has(address)))
          throw Object.assign(new NodeError("oversized", "too large"), { isUncertain });
        const accounts = addresses.map((address) => {
          const owner = existing.get(address);
          if (owner === undefined) return null;
          return { address, owner, lamports: 1n, data: mintData(), executable: false, slot: 5n };
        });
        return { slot: 5n, accounts };
      },
      fetchProgramAccounts: async () => "refused",
    },
    pace: new OneATurn(),
    now: () => nowMs,
    networkOf: (address) => address,
    negativeMs: 1_000,
  });
});
afterEach(() => proofs.close());

const caller = (keyId: string) => ({ peer: "192.0.2.1", principal: { keyId } });
const isMintOf = async (mint: Address, peer: string) =>
  (await proofs.prove(mint, { ...caller("one"), peer })).account !== null;
const isMint = async (mint: Address, keyId = "one") => (await proofs.prove(mint, caller(keyId))).account !== null;

test("mints asked for together are one call, and each is answered", async () => {
  existing.set(addressAt(3), TOKEN_PROGRAM);
  const answers = await Promise.all(Array.from({ length: 90 }, (_, n) => isMint(addressAt(n))));
  expect(calls).toEqual([90]);
  expect(answers.flatMap((yes, n) => (yes ? [n] : []))).toEqual([3]);
});

test("each mint that exists is answered in a turn of its own, those that do not exist together", async () => {
  for (let n = 0; n < 5; n++) existing.set(addressAt(n), TOKEN_PROGRAM);
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const turnOf = async (n: number) => ({ yes: await isMint(addressAt(n)), turn });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => turnOf(n)));
  clearImmediate(counting);
  const turnsOf = (yes: boolean) => new Set(answers.filter((one) => one.yes === yes).map((one) => one.turn));
  expect(turnsOf(true).size).toBe(5);
  expect(turnsOf(false).size).toBe(1);
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

test("a flood of mints that do not exist takes a bounded number of calls and delays no other key", async () => {
  const flood = Array.from({ length: 3_000 }, (_, n) => isMint(addressAt(n), "greedy").catch(() => "refused"));
  existing.set(addressAt(9_999), TOKEN_PROGRAM);
  expect(await isMint(addressAt(9_999), "other")).toBe(true);
  expect(first).toContain(addressAt(9_999));
  const answers = await Promise.all(flood);
  expect(answers.filter((answer) => answer === "refused").length).toBe(2_500);
  expect(calls.length).toBe(6);
});

test("no single node can call an account too large: the mint is not absent, and others are answered", async () => {
  existing.set(addressAt(1), TOKEN_PROGRAM);
  tooLarge = new Set([addressAt(2)]);
  isUncertain = true;
  const [first, second] = await Promise.allSettled([isMint(addressAt(1)), isMint(addressAt(2))]);
  expect(first).toMatchObject({ value: true });
  expect(second).toMatchObject({ status: "rejected", reason: { code: "UPSTREAM_ERROR" } });
  expect(proofs.isAbsent(addressAt(2))).toBe(false);
});

test("accounts too large for an answer fail no other caller's mints, and are not read again for a while", async () => {
  existing.set(addressAt(1), TOKEN_PROGRAM);
  tooLarge = new Set(Array.from({ length: 99 }, (_, n) => addressAt(1_000 + n)));
  const greedy = [...tooLarge].map((mint, n) => isMint(mint, `greedy ${n % 9}`));
  expect(await isMintOf(addressAt(1), "192.0.2.2")).toBe(true);
  expect(lastAsked.get(addressAt(1))).toBe(3);
  expect(await Promise.all(greedy)).toEqual(Array(99).fill(false));
  // A binary tree of which each leaf is one account.
  expect(calls.length).toBeLessThanOrEqual(1 + 2 * 99);
  const before = calls.length;
  nowMs += 35_000;
  expect([...tooLarge].every((mint) => proofs.isAbsent(mint))).toBe(true);
  expect(calls.length).toBe(before);
});

test("one account too large among a hundred mints costs a few calls, however many ask", async () => {
  for (let n = 0; n < 99; n++) existing.set(addressAt(n), TOKEN_PROGRAM);
  tooLarge = new Set([addressAt(99)]);
  const ask = (n: number) => isMintOf(addressAt(n), `192.0.2.${n}`);
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(n)));
  expect(answers).toEqual([...Array(99).fill(true), false]);
  expect(calls.length).toBeLessThanOrEqual(15);
});

test("an outage fails the mints of a call without more calls", async () => {
  failure = new NodeError("unreachable", "no answer");
  const ends = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => isMint(addressAt(n))));
  expect(ends.every(({ status }) => status === "rejected")).toBe(true);
  expect(calls).toEqual([50]);
});

test("an address that has used up its calls waits; another one's mints do not, nor those that both ask for", async () => {
  tooLarge = new Set(Array.from({ length: 300 }, (_, n) => addressAt(1_000 + n)));
  existing.set(addressAt(1), TOKEN_PROGRAM).set(addressAt(2), TOKEN_PROGRAM);
  isClockStill = true;
  const greedy = [...tooLarge].map((mint) => isMintOf(mint, "192.0.2.1").catch(() => "closed"));
  await eventually(() => expect(calls.length).toBe(12));
  const both = isMintOf(addressAt(1), "192.0.2.1");
  // Turns of the event loop in which nothing more may be asked.
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  expect(calls.length).toBe(12);
  expect(await isMintOf(addressAt(1), "192.0.2.2")).toBe(true);
  expect(await both).toBe(true);
  expect(await isMintOf(addressAt(2), "192.0.2.2")).toBe(true);
  expect(calls.slice(12)).toEqual([1, 1]);
  nowMs += 10_000;
  expect(await isMintOf(addressAt(3), "192.0.2.2")).toBe(false);
  await eventually(() => expect(calls.length).toBeGreaterThanOrEqual(15 + 12));
  for (let turns = 0; turns < 20; turns++) await nextTurn();
  expect(calls.length).toBe(15 + 12);
  proofs.close();
  expect(new Set(await Promise.all(greedy))).toContain("closed");
});

test("all addresses together make 50 calls a second", async () => {
  isClockStill = true;
  for (let n = 0; n < 60; n++) {
    void isMintOf(addressAt(n), `192.0.2.${n}`).catch(() => {});
    for (let turns = 0; turns < 3; turns++) await nextTurn();
  }
  expect(calls.length).toBe(50);
});

test("the keys of one address hold a fifth of the places to wait in: more is refused, and no other address is", async () => {
  const flood = Array.from({ length: 1_500 }, (_, n) =>
    isMint(addressAt(n), `key ${n % 100}`).catch(({ code, message }) => `${code} ${message}`),
  );
  const other = isMintOf(addressAt(9_999), "192.0.2.2");
  const refused = (await Promise.all(flood)).filter((answer) => answer !== false);
  expect(refused.length).toBe(500);
  expect(refused[0]).toMatch(/^RATE_LIMIT_EXCEEDED .* with this address/);
  expect(await other).toBe(false);
});
