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

async function isProven(words: readonly Validity[]): Promise<boolean> {
  const endpoints = words.map((word, i) => {
    const isBlockhashValid = VALIDITY[word];
    return fakeEndpoint(
      {
        getEpochInfo: () => ({ absoluteSlot: 1_540, blockHeight: 540 }),
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
  { words: ["it is over", "the method is refused"], proven: true },
  { words: ["the method is refused", "the method is refused"], proven: true },
])("an expiry of which nodes say $words is proven: $proven", async ({ words, proven }) => {
  expect(await isProven(words)).toBe(proven);
});
