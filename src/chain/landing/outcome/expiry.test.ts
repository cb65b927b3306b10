import { expect, test } from "vitest";
import { fakeEndpoint } from "../../../../test/support/fake-chain.ts";
import { NodeError } from "../../rpc/node-error.ts";
import { createRpcPool } from "../../rpc/rpc-pool.ts";
import { Witnesses } from "../../rpc/witnesses.ts";
import { proveExpiry } from "./expiry.ts";

const VALIDITY = {
  "the blockhash lives": () => ({ context: { slot: 1_540 }, value: true }),
  "it is over": () => ({ context: { slot: 1_540 }, value: false }),
  "no boolean": () => ({ context: { slot: 1_540 }, value: null }),
  "it is over, from an old state": () => ({ context: { slot: 1_000 }, value: false }),
  nothing: () => {
    throw new NodeError("unreachable", "no answer");
  },
  "the method is refused": undefined,
} as const;
type Validity = keyof typeof VALIDITY;

async function isProven(words: readonly Validity[], height = 540): Promise<boolean> {
  const endpoints = words.map((word, i) => {
    const isBlockhashValid = VALIDITY[word];
    return fakeEndpoint(
      {
        getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: height }),
        getSignatureStatuses: () => ({ context: { slot: 1_540 }, value: [null] }),
        ...(isBlockhashValid === undefined ? {} : { isBlockhashValid }),
      },
      `node ${i}`,
    );
  });
  const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
  const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
  const one = { signature: "signature", lastValidBlockHeight: 500n, blockhash: "blockhash" };
  return (await proveExpiry(witnesses, [one])).get("signature")!.isExpired;
}

test.each<{ readonly words: readonly Validity[]; readonly proven: boolean }>([
  { words: ["it is over"], proven: true },
  { words: ["nothing"], proven: false },
  { words: ["it is over", "it is over"], proven: true },
  { words: ["it is over", "the blockhash lives"], proven: false },
  { words: ["it is over", "nothing"], proven: false },
  { words: ["it is over", "no boolean"], proven: false },
  { words: ["it is over, from an old state", "it is over"], proven: true },
  { words: ["no boolean", "no boolean", "the blockhash lives"], proven: false },
  { words: ["it is over", "it is over", "nothing"], proven: true },
  { words: ["it is over", "it is over", "the blockhash lives"], proven: true },
  { words: ["it is over", "it is over", "the blockhash lives", "the blockhash lives"], proven: false },
  { words: ["it is over", "the method is refused"], proven: true },
  { words: ["the method is refused", "the method is refused"], proven: true },
])("an expiry of which nodes say $words is proven: $proven", async ({ words, proven }) => {
  expect(await isProven(words)).toBe(proven);
});

test("a message may land until the block after its last one is final", async () => {
  expect([await isProven(["it is over"], 500), await isProven(["it is over"], 501)]).toEqual([false, true]);
});

test("nodes are asked once about the blockhash of all messages that have it", async () => {
  const endpoint = fakeEndpoint({
    getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
    getSignatureStatuses: ([...signatures]: string[]) => ({
      context: { slot: 1_540 },
      value: signatures.map(() => null),
    }),
    isBlockhashValid: (blockhash: string) => ({ context: { slot: 1_540 }, value: blockhash === "alive" }),
  });
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
  const cases = ["over", "over", "alive", "over", "alive"].map((blockhash, i) => ({
    signature: `${i}`,
    lastValidBlockHeight: 500n,
    blockhash,
  }));
  const findings = await proveExpiry(witnesses, cases);
  const expired = cases.map(({ signature }) => findings.get(signature)!.isExpired);
  expect(expired).toEqual([true, true, false, true, false]);
  expect(endpoint.countOf("isBlockhashValid")).toBe(2);
});

test("a node that shows a transaction without its metadata has not said that it is in no block", async () => {
  const answers = [
    null,
    { slot: 1_400, meta: null, transaction: { signatures: ["signature"], message: { accountKeys: [] } } },
  ];
  const isExpired = answers.map(async (answer) => {
    const endpoint = fakeEndpoint({
      getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
      getSignatureStatuses: () => ({ context: { slot: 1_540 }, value: [null] }),
      isBlockhashValid: VALIDITY["it is over"],
      getTransaction: () => answer,
    });
    const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
    const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
    const one = { signature: "signature", lastValidBlockHeight: 500n, blockhash: "blockhash" };
    return (await proveExpiry(witnesses, [one])).get("signature")!.isExpired;
  });
  expect(await Promise.all(isExpired)).toEqual([true, false]);
});

test("a node that answers for fewer signatures than it was asked about has not said that a transaction is in no block", async () => {
  const endpoint = fakeEndpoint({
    getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
    getSignatureStatuses: () => ({ context: { slot: 1_540 }, value: [null] }),
    isBlockhashValid: VALIDITY["it is over"],
  });
  const pool = createRpcPool({ endpoints: [endpoint], now: Date.now, warn: () => {} });
  const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
  const cases = ["one", "other"].map((signature) => ({
    signature,
    lastValidBlockHeight: 500n,
    blockhash: "blockhash",
  }));
  const findings = await proveExpiry(witnesses, cases);
  expect(cases.map(({ signature }) => findings.get(signature)!.isExpired)).toEqual([false, false]);
});

test.each<{ readonly heights: readonly number[]; readonly seers: number; readonly proven: boolean }>([
  { heights: [540, 540], seers: 1, proven: true },
  { heights: [649, 649], seers: 1, proven: true },
  { heights: [649, 650], seers: 1, proven: false },
  { heights: [700, 700], seers: 1, proven: false },
  { heights: [540, 540], seers: 2, proven: false },
  { heights: [540, 540, 540], seers: 2, proven: true },
  { heights: [540], seers: 1, proven: false },
])(
  "an expiry that nodes at heights $heights find, while $seers still see the transaction, is proven: $proven",
  async ({ heights, seers, proven }) => {
    const aside: string[] = [];
    const seen = { slot: 1_400, err: null, confirmationStatus: "confirmed" };
    const endpoints = [...heights, ...Array.from({ length: seers }, () => 540)].map((blockHeight, i) => ({
      ...fakeEndpoint(
        {
          getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight }),
          getSignatureStatuses: () => ({ context: { slot: 1_540 }, value: [i < heights.length ? null : seen] }),
          isBlockhashValid: VALIDITY["it is over"],
        },
        `node ${i}`,
      ),
      doubt: () => void aside.push(`node ${i}`),
    }));
    const pool = createRpcPool({ endpoints, now: Date.now, warn: () => {} });
    const witnesses = new Witnesses({ pool, now: Date.now, warn: () => {} });
    const one = { signature: "signature", lastValidBlockHeight: 500n, blockhash: "blockhash" };
    const finding = (await proveExpiry(witnesses, [one])).get("signature")!;
    expect(finding.isExpired).toBe(proven);
    expect(finding.doubt).toBe(proven ? undefined : "a node still reports it in a block");
    expect(finding.seen?.by.name).toBe(proven ? undefined : `node ${heights.length}`);
    expect(aside).toHaveLength(proven ? seers : 0);
  },
);
